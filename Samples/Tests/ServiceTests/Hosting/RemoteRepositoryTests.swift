import Backup
import Foundation
import SampleTestSupport
import Testing

/// The address of a server for tests, that `Scripts/s3-server` starts. Without one, tests that need it are skipped.
private let server = ProcessInfo.processInfo.environment["QOS_TEST_S3"]

@Suite(
    "A repository in storage of S3 in the service", .enabled(if: server != nil), .serialized, .timeLimit(.minutes(5)))
struct RemoteRepositoryTests {
    let world: HostingWorld
    let address: String

    init() throws {
        world = try HostingWorld()
        address = "\(server ?? "")/repositories/service-\(UUID().uuidString)"
        try world.state.setMode("passphrase", 0o600)
    }

    private func configuration(_ address: String) throws -> [String] {
        let settings = [
            "backupRepository": address, "backupPasswordFile": world.state["passphrase"],
            "restoreFolder": world.state["restored"],
        ]
        try JSONEncoder().encode(settings).write(to: URL(fileURLWithPath: world.state["configuration"]))
        return ["--config", world.state["configuration"]]
    }

    @Test("a service whose configuration names an address saves there, lists what is there, and restores it")
    func day() throws {
        _ = try Repository.create(at: address, passphrase: Array(HostingWorld.passphrase.utf8), cost: .none)
        try world.served.write("d/one.md", "fox")
        let service = try world.start(try configuration(address) + ["--governor", "off"])
        try service.item("first backup of \(world.served.path)") { $0.state == "finished" }
        let answer = try service.get("/snapshots").decode(SnapshotsAnswer.self)
        let id = try #require(answer.snapshots.first?.id)
        #expect(answer.snapshots.count == 1 && answer.snapshots.first?.folder == world.served.path)
        let check = try service.item("check of the repository") { _ in true }
        #expect(try service.post("/workloads/\(check.id)/run").status == 200)
        try service.item("check of the repository") { $0.finishedRuns == 1 && $0.state == "scheduled" }
        #expect(try service.post("/restore?snapshot=\(id)&target=back").status == 202)
        try service.item("restore of \(id.prefix(8))") { $0.state == "finished" }
        #expect(try world.state.read("restored/back/d/one.md") == "fox")
        service.send(SIGTERM)
        #expect(service.wait().status == 0)
    }

    @Test("an address that is none, storage without a repository and missing keys end the start with what to do")
    func mistakes() throws {
        let rows: [(String, [String: String], Int32, String)] = [
            ("s3:bucket", [:], 64, "is no address of a repository"),
            (address, [:], 66, "qos-backup init -r \(address)"),
            (address, ["AWS_SECRET_ACCESS_KEY": " "], 64, "AWS_SECRET_ACCESS_KEY"),
        ]
        for (address, environment, status, text) in rows {
            let ending = try world.make(try configuration(address), environment: environment).wait()
            #expect(ending.status == status && ending.errors.contains(text), "\(address): \(ending)")
        }
    }
}
