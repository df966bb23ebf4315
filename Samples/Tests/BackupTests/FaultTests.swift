import Backup
import Foundation
import Glibc
import SampleTestSupport
import Testing

/// Runs with storage that fails at each single call, one after the other.
@Suite("Failing storage")
struct FaultTests {
    private static let bound = 400

    /// What holds after each failure: no damage, and an error that says what to do.
    private func check(_ world: BackupWorld, _ error: (any Error)?, _ kind: StorageFault.Kind, _ place: String)
        async throws
    {
        if let error {
            let error = try #require(error as? BackupError, "\(place): \(error)")
            if case .noSpace = error {
                #expect(kind == .full, "\(place)")
                #expect("\(error)".contains("Free some") && "\(error)".contains("'prune'"))
            } else {
                #expect("\(error)".contains("run again"), "\(place): \(error)")
                #expect(kind == .broken, "\(place): \(error)")
            }
        }
        let problems = try await RepositoryCheck(world.open(), readingPercent: 100).run().problems
        #expect(problems == [], "\(place)")
    }

    @Test(
        "a backup that fails at any call leaves no damage, and the next one is whole",
        arguments: StorageFault.Kind.allCases)
    func backup(kind: StorageFault.Kind) async throws {
        let world = try BackupWorld()
        try world.makeSmallZoo()
        try await world.backUp()
        var round = 0
        while round < Self.bound {
            try world.temporary.write(
                "source/folder/new", bytes: SeededGenerator.noise(9000, seed: UInt64(100 + round)))
            let fault = StorageFault(kind, from: round)
            var failure: (any Error)?
            do {
                let repository = try world.open(before: fault.hook)
                _ = try await BackupRun(repository, folder: world.source, options: world.options).run()
                #expect(try await world.verify() == [], "said to be done: \(fault.failed)")
            } catch {
                failure = error
            }
            guard let place = fault.failed.first else {
                #expect(failure == nil)
                break
            }
            #expect(failure != nil, "\(place) failed, and the run did not")
            try await check(world, failure, kind, "\(round) \(place)")
            try await world.backUp()
            #expect(try await world.verify() == [], "after \(place)")
            round += 1
        }
        #expect((15..<Self.bound).contains(round))
        _ = try await PruneRun(world.open()).run()
        #expect(try world.leftovers() == [])
    }

    @Test(
        "a prune that fails at any call loses nothing, and on a full disk it frees room",
        arguments: StorageFault.Kind.allCases)
    func prune(kind: StorageFault.Kind) async throws {
        let world = try BackupWorld()
        try world.makeSmallZoo()
        try await world.backUp()
        var round = 0
        while round < Self.bound {
            // One pack of waste alone, and one that is waste for the most part.
            for (seed, size) in [(1000, 1), (2000, 5000)] {
                let seed = UInt64(seed + round)
                try world.temporary.write("source/waste", bytes: SeededGenerator.noise(50_000, seed: seed))
                try world.temporary.write("source/stays", bytes: SeededGenerator.noise(size, seed: seed))
                try await world.backUp()
            }
            try world.temporary.remove("source/waste")
            try await world.backUp()
            let snapshots = try world.open().snapshots().snapshots
            try world.open().forget(Array(snapshots.dropLast()))
            let fault = StorageFault(kind, from: round)
            var failure: (any Error)?
            var report: PruneRun.Report?
            do {
                report = try await PruneRun(world.open(before: fault.hook)).run()
            } catch {
                failure = error
            }
            guard let place = fault.failed.first else {
                #expect(failure == nil)
                break
            }
            if kind == .full {
                #expect(failure == nil, "\(round) \(place)")
                #expect(
                    report.map { $0.removed > 0 && $0.freed > 0 } == true,
                    "\(round) \(place): \(String(describing: report))")
            } else {
                #expect(failure != nil, "\(round) \(place)")
            }
            try await check(world, failure, kind, "\(round) \(place)")
            #expect(try await world.verify() == [], "after \(place)")
            let next = try await PruneRun(world.open()).run()
            #expect(next.waiting == 0 && next.postponed == 0)
            #expect(try world.leftovers() == [], "after \(place)")
            #expect(try world.files("index").count == 1, "after \(place)")
            #expect(try world.files("reserve").count == 1, "after \(place)")
            try await check(world, nil, kind, "\(round) \(place), at the end")
            #expect(try await world.verify() == [], "after \(place)")
            round += 1
        }
        #expect((20..<Self.bound).contains(round))
    }

    @Test("a restore that fails at any call writes no wrong byte, and goes on", arguments: StorageFault.Kind.allCases)
    func restore(kind: StorageFault.Kind) async throws {
        let world = try BackupWorld()
        try world.makeSmallZoo()
        try await world.backUp()
        let whole = TreePicture(world.source)
        var round = 0
        while round < Self.bound {
            try? world.temporary.remove("target")
            let fault = StorageFault(kind, from: round)
            var failure: (any Error)?
            do {
                let repository = try world.open(before: fault.hook)
                let latest = try repository.snapshot(named: "latest")
                let report = try await RestoreRun(repository, latest, to: world.target).run()
                let isTold = !report.problems.isEmpty || report.incomplete > 0
                if !isTold { #expect(try await world.verify("target") == [], "\(fault.failed)") }
                #expect(isTold || fault.failed.allSatisfy { $0.place != .target }, "\(fault.failed) had no effect")
            } catch {
                failure = error
            }
            guard let place = fault.failed.first else {
                #expect(failure == nil)
                break
            }
            if kind == .full, place.place == .target { #expect(failure != nil, "\(place)") }
            try await check(world, failure, kind, "\(round) \(place)")
            if world.temporary.exists("target") {
                let wrong = try await world.verify("target").filter {
                    [.content, .size, .kind, .target].contains($0.aspect)
                }
                #expect(wrong == [], "after \(place)")
            }
            #expect(try await world.restore().problems == [])
            #expect(TreePicture(world.target).difference(from: whole) == [], "after \(place)")
            round += 1
        }
        #expect((20..<Self.bound).contains(round))
    }

    @Test("an init that fails at any call is run again in the same folder", arguments: StorageFault.Kind.allCases)
    func create(kind: StorageFault.Kind) throws {
        var round = 0
        while round < Self.bound {
            let temporary = try TemporaryFolder()
            let fault = StorageFault(kind, from: round)
            let isMade =
                (try? Repository.create(at: temporary["new"], passphrase: [1], cost: .none, before: fault.hook)) != nil
            guard let place = fault.failed.first else {
                #expect(isMade)
                break
            }
            #expect(!isMade, "\(place)")
            // The header is there if only its name was not put on the disk.
            if !temporary.exists("new/repository") {
                _ = try Repository.create(at: temporary["new"], passphrase: [1], cost: .none)
            }
            #expect(try Repository.open(at: temporary["new"], passphrase: [1]).snapshots().problems == [])
            round += 1
        }
        #expect((10..<Self.bound).contains(round))
    }
}

/// The same on a file system that is really full.
@Suite("Full disk", .serialized, .enabled(if: SmallDisk.isAvailable, "mounting needs CAP_SYS_ADMIN"))
struct SmallDiskTests {
    @Test("backup and restore end with what to do, forget and prune free room, and then the backup goes on")
    func fills() async throws {
        let temporary = try TemporaryFolder()
        let disk = try SmallDisk(at: temporary, megabytes: 12)
        let path = disk.path + "/repository"
        let source = temporary["source"]
        let repository = try Repository.create(at: path, passphrase: [1], cost: .none)
        try temporary.write("source/first", bytes: SeededGenerator.noise(5 << 20, seed: 1))
        _ = try await BackupRun(repository, folder: source).run()
        try temporary.remove("source/first")
        try temporary.write("source/second", bytes: SeededGenerator.noise(3 << 20, seed: 2))
        _ = try await BackupRun(repository, folder: source).run()
        try temporary.write("source/third", bytes: SeededGenerator.noise(4 << 20, seed: 3))
        await #expect(throws: BackupError.self) { try await BackupRun(repository, folder: source).run() }
        // Not a byte is left for other programs either.
        let ballast = unsafe open(disk.path + "/ballast", O_WRONLY | O_CREAT, 0o600)
        let zeros = [UInt8](repeating: 0, count: 4096)
        while unsafe write(ballast, zeros, zeros.count) > 0 {}
        close(ballast)
        await #expect(throws: BackupError.self) { try await BackupRun(repository, folder: source).run() }
        #expect(try await RepositoryCheck(repository, readingPercent: 100).run().problems == [])
        try repository.forget(Array(try repository.snapshots().snapshots.prefix(1)))
        let pruned = try await PruneRun(repository).run()
        #expect(pruned.removed == 1 && pruned.freed > 5 << 20, "\(pruned)")
        let report = try await BackupRun(repository, folder: source).run()
        #expect(report.problems == [])
        #expect(try await RepositoryCheck(repository, readingPercent: 100).run().problems == [])
        let target = disk.path + "/target"
        let last = try repository.snapshot(named: "latest")
        await #expect(throws: BackupError.self) { try await RestoreRun(repository, last, to: target).run() }
        try disk.grow(megabytes: 24)
        #expect(try await RestoreRun(repository, last, to: target).run().problems == [])
        #expect(TreePicture(target).difference(from: TreePicture(source)) == [])
    }
}
