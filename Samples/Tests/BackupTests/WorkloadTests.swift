import Backup
import Foundation
import QoSCore
import QoSRuntime
import QoSWorkloads
import SampleTestSupport
import Testing

@Suite("Backup as a workload")
struct WorkloadTests {
    @Test("it finishes on threads, at its class, and the tree comes back as it was")
    func finishes() async throws {
        let world = try BackupWorld()
        try world.makeZoo()
        let scheduler = try QoSScheduler()
        let workload = BackupWorkload { _ in BackupWorld.passphrase }
        let host = try WorkloadHost(store: InMemoryWorkloadStore(), scheduler: scheduler, workloads: [workload])
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await host.run() }
            let parameters = BackupWorkload.Parameters(folder: world.source, repository: world.repositoryPath)
            let item = try await host.submit(BackupWorkload.self, parameters, level: .background)
            #expect(try await item.outcome == .finished)
            host.stop()
            try await group.waitForAll()
        }
        #expect(try await world.restore().problems == [])
        #expect(TreePicture(world.target) == TreePicture(world.source))
        try await scheduler.shutdown()
    }

    @Test("a run that was interrupted goes on at its checkpoint: what is saved is not read again")
    func checkpoint() async throws {
        struct Stop: Error {}
        let world = try BackupWorld()
        for number in 0..<30 { try world.temporary.write("source/\(number % 3)/file\(number)", "text \(number)") }
        var entries = 0
        var last: BackupCheckpoint?
        await #expect(throws: Stop.self) {
            _ = try await BackupRun(world.open(), folder: world.source, options: world.options).run(
                breathe: {
                    entries += 1
                    if entries == 20 { throw Stop() }
                },
                save: { last = $0 })
        }
        let checkpoint = try #require(last)
        #expect(checkpoint.files >= 14)
        #expect(try world.open().snapshots().snapshots.isEmpty)

        let coded = try JSONDecoder().decode(BackupCheckpoint.self, from: try JSONEncoder().encode(checkpoint))
        let run = try BackupRun(world.open(), folder: world.source, options: world.options, resuming: coded)
        let report = try await run.run()
        #expect(report.unchanged == checkpoint.files)
        #expect(report.snapshot.files == 30)
        #expect(try await world.restore().problems == [])
        #expect(TreePicture(world.target) == TreePicture(world.source))
    }

    @Test(
        "a restore does not leave its folder, however its target is written",
        arguments: [
            "..", "a/../..", ".", "", #"\u{2E}\u{2E}"#, #"\u{2E}\u{2E}\u{2F}x"#, #"a\u{2F}b"#, #"a/\u{2e}\u{2e}"#,
            #"\u{2E}"#,
        ])
    func staysInside(path: String) throws {
        let temporary = try TemporaryFolder()
        try temporary.makeFolder("restored/a/b")
        let target = RestoreTarget(below: temporary["restored"], path: path)
        #expect(throws: RestoreTarget.Failure.self) { try target.check() }
    }

    @Test("a target may have a backslash in its name, and is where the restore writes")
    func namesBackslash() throws {
        let temporary = try TemporaryFolder()
        try temporary.makeFolder(#"restored/\u{2E}\u{2E}"#)
        try RestoreTarget(below: temporary["restored"], path: #"\\u{2E}\\u{2E}"#).check()
        try RestoreTarget(below: temporary["restored"], path: #"\\u{2E}\\u{2E}/new"#).check()
        try RestoreTarget(below: temporary["restored"], path: #"back\slash"#).check()
    }
}
