import Foundation
import SampleTestSupport
import Synchronization
import Testing

@testable import Backup

@Suite("Forget and prune")
struct UpkeepTests {
    private static let day: Int64 = 86_400_000_000_000

    private func snapshot(day: Int64, hour: Int64 = 0, folder: String = "/a") -> Snapshot {
        let time = day * Self.day + hour * 3_600_000_000_000
        var snapshot = Snapshot(time: time, host: "h", folders: [folder], root: [], files: 0, bytes: 0, problems: 0)
        snapshot.id = Identifier(file: Array("\(time) \(folder)".utf8))
        return snapshot
    }

    @Test("the rules keep the last snapshot of each period, for each folder alone")
    func policy() throws {
        // Day 0 is a Thursday, 1 January 1970.
        var policy = RetentionPolicy()
        policy.timeZone = try #require(TimeZone(secondsFromGMT: 0))
        let all = (0..<60).flatMap { [snapshot(day: $0, hour: 1), snapshot(day: $0, hour: 20)] }
        func kept(_ snapshots: [Snapshot]) -> [Int64] {
            let forgotten = Set(policy.toForget(snapshots).map(\.id))
            return snapshots.filter { !forgotten.contains($0.id) }.map { $0.time / Self.day }
        }
        #expect(policy.keepsNothing)
        policy.last = 2
        #expect(kept(all) == [59, 59])
        policy.last = 0
        policy.daily = 3
        #expect(kept(all) == [57, 58, 59])
        policy.daily = 0
        policy.weekly = 2
        // Day 59 is a Sunday, and so is day 52.
        #expect(kept(all) == [52, 59])
        policy.weekly = 0
        policy.monthly = 5
        #expect(kept(all) == [30, 58, 59])
        #expect(kept([snapshot(day: 0), snapshot(day: 0, folder: "/b")]) == [0, 0])
    }

    @Test("folders whose names are different ways to write the same letters are two")
    func composed() throws {
        var policy = RetentionPolicy()
        policy.last = 1
        let snapshots = [snapshot(day: 0, folder: "/\u{E9}"), snapshot(day: 1, folder: "/e\u{301}")]
        #expect(policy.toForget(snapshots).isEmpty)
        var filter = SnapshotFilter()
        #expect(throws: BackupError.self) { try filter.last(of: snapshots, at: 2 * Self.day) }
        filter.folders = ["/\u{E9}"]
        #expect(snapshots.map { filter.matches($0) } == [true, false])
    }

    @Test("a check finds no damage in a backup that ends while it looks at the repository")
    func checksBeside() async throws {
        let world = try BackupWorld()
        try world.makeSmallZoo()
        try await world.backUp()
        var check = RepositoryCheck(try world.open(), readingPercent: 100)
        check.looked = {
            try world.temporary.write("source/late", bytes: SeededGenerator.noise(50_000, seed: 3))
            try await world.backUp()
        }
        #expect(try await check.run().problems == [])
    }

    @Test("a prune takes a backup that ends while it looks at the repository for no damage, and keeps what it needs")
    func prunesBeside() async throws {
        let world = try BackupWorld()
        try world.makeSmallZoo()
        try await world.backUp()
        var prune = PruneRun(try world.open())
        prune.looked = {
            try world.temporary.write("source/late", bytes: SeededGenerator.noise(50_000, seed: 3))
            try await world.backUp()
        }
        #expect(try await prune.run().removed == 0)
        #expect(try await world.verify() == [])
        #expect(try await PruneRun(world.open()).run().removed == 0)
        #expect(try world.leftovers() == [])
        #expect(try await RepositoryCheck(world.open(), readingPercent: 100).run().problems == [])
        #expect(try await world.verify() == [])
    }

    @Test("an index with many packs is several files, each of which can be read")
    func splitsIndex() async throws {
        let world = try BackupWorld()
        for number in 1...3 {
            try world.temporary.write("source/noise", bytes: SeededGenerator.noise(20_000, seed: UInt64(number)))
            try await world.backUp()
        }
        let repository = try world.open()
        let before = try repository.contents()
        #expect(before.records.count == 3)
        try repository.addIndex(before.records, limit: 1)
        for file in before.files { try repository.folder.remove(file, from: .index) }
        let after = try repository.contents()
        #expect(after.files.count == 3 && after.unlisted.isEmpty && after.problems == [])
        #expect(Set(after.records) == Set(before.records))
    }

    @Test("a prune frees what only forgotten snapshots need, and the rest comes back as it was")
    func prune() async throws {
        let world = try BackupWorld()
        try world.makeZoo()
        try world.temporary.write("source/waste", bytes: SeededGenerator.noise(9 << 20, seed: 8))
        let first = try await world.backUp()
        try world.temporary.remove("source/waste")
        try await world.backUp()
        try world.open().forget([first.snapshot])
        let before = try world.files("packs").reduce(0) { $0 + (try Data(contentsOf: URL(fileURLWithPath: $1)).count) }
        let report = try await PruneRun(world.open()).run()
        let after = try world.files("packs").reduce(0) { $0 + (try Data(contentsOf: URL(fileURLWithPath: $1)).count) }
        #expect(report.removed > 0 && report.waiting == 0)
        #expect(after < before - (8 << 20))
        #expect(try world.files("doomed").isEmpty)
        #expect(try await RepositoryCheck(world.open(), readingPercent: 100).run().problems == [])
        #expect(try await world.restore().problems == [])
        #expect(TreePicture(world.target) == TreePicture(world.source))
    }

    @Test("a backup that began before a prune keeps what it counted on")
    func beside() async throws {
        let world = try BackupWorld()
        try world.makeZoo()
        let first = try await world.backUp()
        try world.open().forget([first.snapshot])
        // This run has read the index, and stores none of its blobs again.
        let run = try BackupRun(world.open(), folder: world.source, options: world.options)
        let report = try await PruneRun(world.open()).run()
        #expect(report.removed == 0 && report.waiting > 0)
        let second = try await run.run()
        #expect(second.newBytes < 1 << 20)
        // The next one sees the new snapshot, and takes the marks away.
        #expect(try await PruneRun(world.open()).run().removed == 0)
        #expect(try world.files("doomed").isEmpty)
        #expect(try await world.restore().problems == [])
        #expect(TreePicture(world.target) == TreePicture(world.source))
    }

    @Test("a snapshot that came and went with its lease during a prune is seen before anything is removed")
    func between() async throws {
        let world = try BackupWorld()
        try world.makeZoo()
        let first = try await world.backUp()
        try world.temporary.write("source/keep", "k")
        for name in ["deep", "large", "plain.txt", "sparse", "hole"] {
            try world.temporary.rename("source/\(name)", name)
        }
        try await world.backUp()
        try world.open().forget([first.snapshot])
        for name in ["deep", "large", "plain.txt", "sparse", "hole"] {
            try world.temporary.rename(name, "source/\(name)")
        }
        var isFirst = true
        let report = try await PruneRun(world.open()).run(breathe: {
            // The snapshots are listed, and no pack is marked yet.
            guard isFirst else { return }
            isFirst = false
            try await world.backUp()
        })
        #expect(report.removed == 0)
        _ = try await PruneRun(world.open()).run()
        #expect(try await RepositoryCheck(world.open(), readingPercent: 100).run().problems == [])
        #expect(try await world.restore().problems == [])
        #expect(TreePicture(world.target) == TreePicture(world.source))
    }

    @Test("a prune that takes the first file of a run for that of a dead one does not end the run")
    func beginning() async throws {
        let world = try BackupWorld()
        try world.temporary.write("source/file", "text")
        let prunes = Mutex<[CommandRun]>([])
        // The lease of the backup has its bytes and not its name: the prune cannot know of the run yet.
        let repository = try world.open(before: { call in
            guard call.description == "leases.rename", prunes.withLock({ $0.isEmpty }) else { return 0 }
            let prune = try? CommandRun(
                "qos-backup", ["prune", "-r", world.repositoryPath],
                environment: ["QOS_BACKUP_PASSWORD": String(decoding: BackupWorld.passphrase, as: UTF8.self)],
                in: world.temporary)
            prunes.withLock { $0 += [prune].compactMap(\.self) }
            return 0
        })
        _ = try await BackupRun(repository, folder: world.source, options: world.options).run()
        let statuses = prunes.withLock { $0.map(\.status) }
        #expect(statuses == [0])
        #expect(try await world.verify() == [])
        #expect(try world.leftovers() == [])
    }

    @Test("a lease from before the clock was set back is over after the usual time")
    func clockSetBack() async throws {
        let world = try BackupWorld()
        try world.temporary.write("source/file", "text")
        let first = try await world.backUp()
        try world.open().forget([first.snapshot])
        // Of a machine that is gone: nobody can ask whether the process is.
        try world.temporary.write("repository/leases/0123", "{}")
        try world.temporary.setTime("repository/leases/0123", Int(Date().timeIntervalSince1970) + 86_400, 0)
        #expect(try await PruneRun(world.open()).run().waiting > 0)
        let file = try FileManager.default.attributesOfItem(atPath: world.temporary["repository/leases/0123"])
        let time = try #require(file[.modificationDate] as? Date)
        // From that look on it has as long as any lease.
        #expect(time <= Date())
        try world.temporary.setTime("repository/leases/0123", Int(Date().timeIntervalSince1970) - 130, 0)
        #expect(try await PruneRun(world.open()).run().removed > 0)
        #expect(try world.leftovers() == [])
    }

    @Test("a prune removes nothing from a repository with damage")
    func damaged() async throws {
        let world = try BackupWorld()
        try world.makeZoo()
        let first = try await world.backUp()
        try world.temporary.write("source/more", "more")
        try await world.backUp()
        try world.open().forget([first.snapshot])
        let pack = try #require(world.files("packs").first)
        try FileManager.default.removeItem(atPath: pack)
        await #expect(throws: BackupError.self) { try await PruneRun(world.open()).run() }
    }

    @Test("a file with the bytes of a folder's list does not hide the folder from a prune")
    func disguised() async throws {
        let world = try BackupWorld()
        try world.temporary.write("source/b/inner", "the content")
        let first = try await world.backUp()
        let repository = try world.open()
        let source = BlobSource(repository, index: try repository.contents().index(withDoomed: true))
        let root = try await source.root(first.snapshot.root)
        guard case .folder(let chunks) = root.content, let folder = try await source.folder(chunks).first,
            case .folder(let list) = folder.content
        else { throw CocoaError(.featureUnsupported) }
        try world.temporary.write("source/a", bytes: try await source.content(list))
        try await world.backUp()
        try world.open().forget([first.snapshot])
        _ = try await PruneRun(world.open()).run()
        #expect(try await world.restore().problems == [])
        #expect(TreePicture(world.target) == TreePicture(world.source))
    }
}
