import Backup
import Foundation
import QoSWorkloads
import SampleTestSupport
import Testing
import TreeScan

@testable import qos_service

@Suite("The routes of the repository", .serialized, .timeLimit(.minutes(5)))
struct RestoreRouteTests {
    let world: HostingWorld

    init() throws {
        world = try HostingWorld()
        try world.served.write("d/one", "1")
        try world.served.write("two", "2")
    }

    private func saved() async throws {
        let repository = try Repository.open(at: world.repository, passphrase: Array(HostingWorld.passphrase.utf8))
        _ = try await BackupRun(repository, folder: world.served.path).run()
    }

    @Test("a restore raises the check that holds the repository, and the edge between them is shown")
    func raisesCheck() async throws {
        try await saved()
        let gate = Gate()
        let key = PassphraseFile(world.state["passphrase"])
        var settings = BackupSettings(
            repository: world.repository, passphraseFile: key.path, folders: [world.served.path])
        settings.restoreFolder = world.state["restored"]
        let live = try await LiveWorld(
            backup: settings,
            more: [
                CheckWorkload(passphrase: { _ in try key.read() }) {
                    while !gate.isOpen { await Task.yield() }
                },
                RestoreWorkload { _ in try key.read() },
            ])
        let check = try await live.host.submit(
            CheckWorkload.self, .init(repository: world.repository), concurrency: HostedWork.key(of: world.repository))
        try await live.wait(for: .running, of: check)
        let fields = ["Authorization": "Bearer \(live.token)"]
        let answer = try HTTPAnswer(
            port: live.port, path: "/restore?snapshot=latest&path=d&target=back", method: "POST", fields: fields)
        #expect(answer.status == 202, "\(answer.text)")
        let restore = try answer.decode(WorkloadsAnswer.Item.self)
        let picture = try HTTPAnswer(port: live.port, path: "/workloads", fields: fields).decode(WorkloadsAnswer.self)
        let raised = try #require(picture.items.first { $0.id == Int(check.id.rawValue) })
        #expect(raised.state == "running" && raised.level == "userInitiated" && raised.isPromoted)
        #expect(picture.items.first { $0.id == restore.id }?.state == "deferred")
        #expect(picture.edges.contains { $0.from == restore.id && $0.to == raised.id && $0.isPromoted })
        #expect(!world.state.exists("restored/back"))
        gate.open()
        try await live.wait(for: .finished, of: live.host[.init(rawValue: Int64(restore.id))])
        #expect(try world.state.read("restored/back/d/one") == "1")
        #expect(!world.state.exists("restored/back/two"))
        try await live.stop()
    }

    @Test("hostile and mistaken requests are refused with what to do, and write nothing")
    func refuses() async throws {
        try await saved()
        try world.state.makeLink("restored/link", to: world.state["other"])
        let service = try world.start(world.backup + ["--governor", "off"])
        let rows: [(String, Int)] = [
            ("", 400), ("?snapshot=latest", 400), ("?target=back", 400), ("?snapshot=latest&target=..", 400),
            ("?snapshot=latest&target=/etc", 400), ("?snapshot=latest&target=a/../../b", 400),
            ("?snapshot=latest&target=link", 400), ("?snapshot=latest&target=link/in", 400),
            ("?snapshot=latest&target=none/in", 400), ("?snapshot=latest&target=%FF", 400),
            ("?snapshot=latest&target=back&path=../d", 400), ("?snapshot=latest&target=back&replace=maybe", 400),
            ("?snapshot=none&target=back", 404), ("?snapshot=&target=back", 404),
            ("?snapshot=latest&target=\(String(repeating: "x", count: 5000))", 400),
        ]
        for (query, status) in rows {
            let answer = try service.post("/restore" + query)
            #expect(answer.status == status, "\(query): \(answer.text)")
            #expect(try answer.decode(ErrorResult.self).error.message.count > 10)
        }
        let good = "/restore?snapshot=latest&target=back"
        #expect(try HTTPAnswer(port: service.port, path: good, method: "POST").status == 401)
        #expect(try service.get(good).status == 405)
        #expect(try service.post(good, ["Origin": "http://evil.example"]).status == 403)
        #expect(try service.post(good, ["Sec-Fetch-Site": "cross-site"]).status == 403)
        #expect(try service.post(good, ["Content-Length": "10000000"]).status == 413)
        #expect(try FileManager.default.contentsOfDirectory(atPath: world.state["restored"]) == ["link"])
        #expect(try FileManager.default.contentsOfDirectory(atPath: world.other) == [])

        // A path that the snapshot does not have ends the item with the reason.
        let answer = try service.post(good + "&path=nothing")
        #expect(answer.status == 202)
        let dead = try service.item(try #require(try answer.decode(WorkloadsAnswer.Item.self).label)) {
            $0.state == "dead"
        }
        #expect(dead.details?.reason.contains("snapshot has no entry") == true)
    }

    @Test(
        "a target whose name looks like an escape is a folder of that name, below the folder for restores",
        arguments: [#"\u{2E}\u{2E}"#, #"\u{2E}\u{2E}\u{2F}x"#, #"a\u{2F}b"#])
    func staysBelow(target: String) async throws {
        try await saved()
        let service = try world.start(world.backup + ["--governor", "off"])
        let encoded = PathText.encoded(RelativePath(target))
        let answer = try service.post("/restore?snapshot=latest&path=two&target=\(encoded)")
        #expect(answer.status == 202, "\(answer.text)")
        _ = try service.item(try #require(try answer.decode(WorkloadsAnswer.Item.self).label)) {
            $0.state == "finished"
        }
        #expect(try world.state.read("restored/\(target)/two") == "2")
        #expect(try FileManager.default.contentsOfDirectory(atPath: world.state["restored"]) == [target])
        #expect(!world.state.exists("x") && !world.state.exists("two"))
    }

    @Test("a service without a repository, or without a folder for restores, says how to have one")
    func unconfigured() async throws {
        let plain = try world.start([])
        #expect(try plain.get("/snapshots").status == 404)
        #expect(try plain.post("/restore?snapshot=latest&target=back").text.contains("--backup-repository"))
        let closed = try world.start(
            Array(world.backup.prefix(4)) + ["--governor", "off", "--index-dir", world.state["second"]])
        let refused = try closed.post("/restore?snapshot=latest&target=back")
        #expect(refused.status == 403 && refused.text.contains("--restore-folder"))
    }
}
