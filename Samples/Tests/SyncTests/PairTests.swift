import Foundation
import Glibc
import SampleTestSupport
import Synchronization
import Testing
import TreeScan

@testable import Sync

@Suite("A pair is a pair in either order", .timeLimit(.minutes(5)))
struct PairTests {
    private func turned(_ world: SyncWorld) async throws -> SyncReport {
        try await SyncRun(a: world.b, b: world.a, options: world.options).run()
    }

    @Test("what was removed stays removed if the next run names the folders the other way round")
    func removal() async throws {
        let world = try SyncWorld()
        for number in 0..<9 { try world.temporary.write("a/\(number)", "\(number)") }
        try await world.sync()
        try world.temporary.remove("a/3")
        try world.temporary.write("b/4", "edited on B")
        let report = try await turned(world)
        #expect(report.isInStep && report.removed == 1 && report.copied == 1, "\(report)")
        #expect(!world.exists("a/3") && !world.exists("b/3"))
        #expect(try world.temporary.read("a/4") == "edited on B")
        try world.temporary.remove("b/5")
        #expect(try await world.sync().removed == 1)
        #expect(try world.temporary.files().filter { $0.hasSuffix(".sqlite") }.count == 1)
    }

    @Test("an interrupted run goes on in the other order")
    func interrupted() async throws {
        struct Stop: Error {}
        let world = try SyncWorld()
        try world.temporary.write("a/large", bytes: SeededGenerator.noise(3 << 20, seed: 1))
        try await world.sync { $0.largeFile = 1 << 20 }
        try world.temporary.write("b/d/x", "x")
        var steps = 0
        _ = try? await SyncRun(a: world.a, b: world.b, options: world.options).run {
            steps += 1
            if steps == 2 { throw Stop() }
        }
        #expect(try await turned(world).isInStep)
        #expect(world.difference() == [])
        #expect(try world.leftovers() == [])
    }

    @Test("of two archives that an earlier version made, the last one counts, and the other is put aside")
    func twoArchives() async throws {
        let world = try SyncWorld()
        try world.temporary.write("a/f", "f")
        try world.temporary.write("a/g", "g")
        try await world.sync()
        // As if the other order had made the same archive before.
        let path = try #require(world.temporary.files().first { $0.hasSuffix(".sqlite") })
        let names = [(world.a, world.b), (world.b, world.a)].map { SyncArchive.name($0, $1) }
        let other = try #require(names.first { !path.contains($0) })
        try FileManager.default.copyItem(
            atPath: world.temporary[path], toPath: world.archive + "/\(other).sqlite")
        try world.temporary.setTime("archive/\(other).sqlite", 1_000_000_000, 0)
        try world.temporary.remove("b/f")
        #expect(try await turned(world).removed == 1)
        #expect(try world.temporary.files().contains("archive/\(other).superseded.sqlite"))
        #expect(try await world.sync().unchanged == 1)
    }

    @Test("two users' runs with archives of their own wait for each other, and leave no conflict")
    func twoUsers() async throws {
        let world = try SyncWorld()
        for number in 0..<20 { try world.temporary.write("a/\(number)", "1") }
        var other = world.options
        other.archive = world.temporary["archive of another"]
        let second = other
        try await world.sync()
        _ = try await SyncRun(a: world.a, b: world.b, options: second).run()
        for round in 0..<5 {
            for number in 0..<20 { try world.temporary.write("a/\(number)", "round \(round)") }
            async let first = world.sync()
            async let turned = SyncRun(a: world.b, b: world.a, options: second).run()
            let reports = try await [first, turned]
            #expect(reports.allSatisfy { $0.isInStep }, "\(reports)")
            #expect(try world.temporary.files().filter { $0.contains("conflict") } == [])
            #expect(world.difference() == [])
        }
    }

    @Test("a run that waits for another one says so, and ends when it is cancelled")
    func waiting() async throws {
        let world = try SyncWorld()
        let lock = try await RootLock.take([world.a]) { _ in }
        let (told, feed) = AsyncStream<String>.makeStream()
        var options = world.options
        options.waits = { feed.yield($0) }
        let chosen = options
        let task = Task { try await SyncRun(a: world.a, b: world.b, options: chosen).run() }
        for await folder in told {
            #expect(folder == world.a)
            break
        }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        lock.release()
        #expect(try await world.sync().isInStep)
    }
}

@Suite("Files that were touched, and folders that cannot be written", .timeLimit(.minutes(5)))
struct TouchedFileTests {
    /// The ways to touch a file without an edit.
    enum Touch: String, CaseIterable, Sendable {
        case time
        case link
        case sameBytes
        case mode
    }

    private func touch(_ way: Touch, _ folder: TemporaryFolder, _ name: String, _ text: String) throws {
        switch way {
        case .time: try folder.setTime(name, 1_900_000_000, 5)
        case .link:
            guard unsafe Glibc.link(folder[name], folder["elsewhere \(UUID())"]) == 0 else {
                throw CocoaError(.fileWriteUnknown)
            }
        case .sameBytes:
            try folder.remove(name)
            try folder.write(name, text)
        case .mode: try folder.setMode(name, 0o600)
        }
    }

    @Test(
        "an edit on one side goes to the other one, where the file was only touched", arguments: Touch.allCases,
        Opposite.allCases)
    func editBesideTouch(way: Touch, opposite: Opposite) async throws {
        let pair = try await OpposedWorld(opposite)
        let folder = pair.folder
        for (from, to) in [("a", "b"), ("b", "a")] {
            // One file that the sync copied, and one that was on both sides before the first run.
            try folder.write("\(from)/copied by \(from)", "1")
            try folder.write("a/there before \(from)", "1")
            try folder.write("b/there before \(from)", "1")
            try await pair.sync()
            for name in ["copied by \(from)", "there before \(from)"] {
                try touch(way, folder, "\(to)/\(name)", "1")
                try folder.write("\(from)/\(name)", "2")
            }
            let report = try await pair.sync()
            #expect(report.isInStep && report.conflicts == [], "\(report)")
            for name in ["copied by \(from)", "there before \(from)"] {
                #expect(try folder.read("\(to)/\(name)") == "2")
            }
        }
    }

    @Test("two edits are still a conflict", arguments: Opposite.allCases)
    func conflict(opposite: Opposite) async throws {
        let pair = try await OpposedWorld(opposite)
        try pair.folder.write("a/f", "1")
        try await pair.sync()
        try pair.folder.write("a/f", "2")
        try pair.folder.write("b/f", "3")
        #expect(try await pair.sync().conflicts.count == 1)
    }

    @Test("a change in a folder of the user that cannot be written goes there, and the folder keeps its rights")
    func readOnlyFolder() async throws {
        let world = try SyncWorld()
        for name in ["edited", "removed", "renamed", "other1", "other2"] {
            try world.temporary.write("a/d/\(name)", name)
        }
        try world.temporary.makeFolder("a/d/e")
        for name in ["a/d/e", "a/d"] { try world.temporary.setMode(name, 0o555) }
        #expect(try await world.sync().isInStep)
        try world.temporary.setMode("a/d", 0o755)
        try world.temporary.write("a/d/edited", "2")
        try world.temporary.write("a/d/new", "n")
        try world.temporary.remove("a/d/removed")
        try world.temporary.rename("a/d/renamed", "a/d/has another name")
        try world.temporary.makeFolder("a/d/folder")
        try world.temporary.makeLink("a/d/link", to: "edited")
        try world.temporary.setMode("a/d", 0o555)
        let report = try await world.sync()
        #expect(report.isInStep, "\(report)")
        #expect(world.difference() == [])
        #expect(try await world.sync().described == 0)
        #expect(TreePicture(world.b).lines.contains { $0.contains("mode 40555") })
    }
}

@Suite("A kill in a folder that cannot be written", .enabled(if: geteuid() != 0), .timeLimit(.minutes(5)))
struct LentRightsTests {
    @Test("the next run gives the folder its rights back", arguments: ["copied", "intended", "unnamed", "exchanged"])
    func kill(step: String) async throws {
        let world = try SyncWorld()
        for name in ["edited", "removed", "stays 1", "stays 2"] { try world.temporary.write("a/d/\(name)", name) }
        try world.temporary.setMode("a/d", 0o555)
        #expect(try await world.sync().isInStep)
        try world.temporary.setMode("a/d", 0o755)
        try world.temporary.write("a/d/edited", "2")
        try world.temporary.remove("a/d/removed")
        try world.temporary.setMode("a/d", 0o555)
        let killed = try CommandRun(
            "qos-sync", [world.a, world.b, "--archive", world.archive], environment: ["QOS_SYNC_KILL_AT": step],
            in: world.temporary)
        #expect(killed.status == 128 + SIGKILL)
        let report = try await world.sync()
        #expect(report.isInStep && report.described == 0, "\(report)")
        #expect(world.difference(folderTimes: false) == [])
        #expect(TreePicture(world.a).lines.filter { $0.contains("mode 40555") }.count == 1)
    }
}

@Suite("A side without room", .enabled(if: SmallDisk.isAvailable), .timeLimit(.minutes(5)))
struct FullSideTests {
    @Test("a file that has no room is left out by name, the others are copied, and a reserve stays")
    func largeFile() async throws {
        let world = try SyncWorld()
        let disk = try SmallDisk(at: world.temporary, megabytes: 16)
        try world.temporary.write("a/huge", bytes: SeededGenerator.noise(40 << 20, seed: 2))
        try world.temporary.write("a/b large", bytes: SeededGenerator.noise(20 << 20, seed: 3))
        for number in 0..<50 { try world.temporary.write("a/z/\(number)", bytes: SeededGenerator.noise(1000, seed: 4)) }
        for largeFile in [Int64(64 << 20), 1 << 20] {
            var options = world.options
            options.largeFile = largeFile
            let report = try await SyncRun(a: world.a, b: disk.path, options: options).run()
            #expect(report.skipped.count == 2 && report.skipped.allSatisfy { $0.contains("no room") }, "\(report)")
            #expect(report.skipped.contains { $0.contains("B/huge") })
        }
        #expect(try world.temporary.files().filter { $0.hasPrefix("disk/z/") }.count == 50)
        #expect(try world.temporary.files().filter { $0.contains(".qos-sync-") } == [])
        var system = statvfs()
        #expect(unsafe statvfs(disk.path, &system) == 0 && system.f_bavail * system.f_frsize > 14 << 20)
    }

    @Test("a file with holes needs the room of its data")
    func sparse() async throws {
        let world = try SyncWorld()
        let disk = try SmallDisk(at: world.temporary, megabytes: 8)
        try world.temporary.makeSparse("a/huge", "h", size: 64 << 20)
        try world.temporary.makeSparse("a/short", "h", size: 200_000)
        try world.temporary.makeSparse("a/all hole", "", size: 3 << 20)
        for largeFile in [Int64(64 << 20), 1 << 31] {
            var options = world.options
            options.largeFile = largeFile
            let report = try await SyncRun(a: world.a, b: disk.path, options: options).run()
            #expect(report.isInStep && report.copied == 3, "\(report)")
            let (a, b) = (TreePicture(world.a), TreePicture(disk.path))
            #expect(Set(a.lines.dropFirst()) == Set(b.lines.dropFirst()))
            #expect(b.lines.filter { $0.contains("sparse true") }.count == 3)
            try world.temporary.setTime("a/huge", 5, 5)
            for name in ["huge", "short", "all hole"] { try world.temporary.remove("disk/\(name)") }
            try world.temporary.remove("archive")
        }
    }

    @Test("an agent's side without room leaves out the same file")
    func agent() async throws {
        let world = try SyncWorld()
        let disk = try SmallDisk(at: world.temporary, megabytes: 8)
        let agent = try await RunningServer.agent(disk.path)
        try world.temporary.write("a/large", bytes: SeededGenerator.noise(12 << 20, seed: 3))
        try world.temporary.write("a/small", "s")
        let report = try await world.sync(with: agent)
        #expect(report.skipped.count == 1 && report.skipped[0].contains("B/large") && report.copied == 1, "\(report)")
        #expect(try world.temporary.files().filter { $0.hasPrefix("disk/") } == ["disk/small"])
    }

    @Test("names of any size and time can be synced without a trap")
    func extremes() async throws {
        let world = try SyncWorld()
        let disk = try SmallDisk(at: world.temporary, megabytes: 8)
        for (name, seconds) in [
            ("first", Int.min), ("last", Int.max), ("1600", -11_676_096_000), ("2300", 10_413_792_000),
        ] {
            try world.temporary.write("disk/\(name)", "x")
            try world.temporary.setTime("disk/\(name)", seconds, 999_999_999)
        }
        for name in ["huge", "huge too"] { try world.temporary.makeSparse("disk/\(name)", "h", size: .max) }
        let report = try await SyncRun(a: disk.path, b: world.b, options: world.options).run()
        #expect(report.copied == 4 && report.skipped.count == 2, "\(report)")
        let again = try await SyncRun(a: disk.path, b: world.b, options: world.options).run()
        #expect(again.copied == 0 && again.conflicts == [], "\(again)")
    }
}
