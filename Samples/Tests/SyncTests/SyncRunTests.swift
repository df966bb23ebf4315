import Foundation
import GRDB
import Glibc
import SampleTestSupport
import Testing
import TreeScan

@testable import Sync

@Suite("Runs")
struct SyncRunTests {
    @Test("a conflict keeps both, under names that no other entry has")
    func conflict() async throws {
        let world = try SyncWorld()
        try world.temporary.write("a/f.txt", "A")
        try world.temporary.write("b/f.txt", "B is longer")
        let options = world.optionsAtOneTime()
        let date = options.date
        try world.temporary.write("a/f.conflict-B-\(date).txt", "taken")
        let report = try await world.sync { $0 = options }
        #expect(report.conflicts.count == 1 && !report.isInStep)
        #expect(try world.temporary.read("b/f.txt") == "A")
        #expect(try world.temporary.read("a/f.conflict-B-\(date)-2.txt") == "B is longer")
        #expect(try world.temporary.read("b/f.conflict-B-\(date).txt") == "taken")
        #expect(world.difference() == [])
        #expect(try await world.sync().isInStep)
    }

    @Test("the policies newer, a and b choose", arguments: [ConflictPolicy.newer, .a, .b], [true, false])
    func policies(policy: ConflictPolicy, isNewerOnA: Bool) async throws {
        let world = try SyncWorld()
        try world.temporary.write("a/f", "A")
        try world.temporary.write("b/f", "B is longer")
        try world.temporary.setTime("a/f", isNewerOnA ? 2000 : 1000, 0)
        try world.temporary.setTime("b/f", 1500, 0)
        let report = try await world.sync { $0.policy = policy }
        #expect(report.conflicts.count == 1)
        let winner = policy == .a || (policy == .newer && isNewerOnA) ? "A" : "B is longer"
        #expect(try world.temporary.read("a/f") == winner && world.temporary.read("b/f") == winner)
    }

    @Test("a file that was written a moment before is not a conflict at the next change")
    func quick() async throws {
        let world = try SyncWorld()
        let present = SyncOptions().now
        for round in 0..<5 {
            try world.temporary.write("a/f", "\(round)")
            let report = try await world.sync { $0.now = present }
            #expect(report.isInStep, "\(report)")
            #expect(try world.temporary.read("b/f") == "\(round)")
        }
    }

    // MARK: Guards

    @Test("an emptied side, and one that is another folder, are refused")
    func guards() async throws {
        let world = try SyncWorld()
        for number in 0..<9 { try world.temporary.write("a/f\(number)", "f") }
        try await world.sync()
        for number in 0..<9 { try world.temporary.remove("a/f\(number)") }
        await #expect(throws: SyncError.emptySide(.a, archived: 9)) { try await world.sync() }
        try world.temporary.write("a/f0", "f")
        await #expect(throws: SyncError.tooManyDeletions(.b, count: 8, total: 9, percent: 50)) {
            try await world.sync()
        }
        try world.temporary.rename("b", "away")
        try world.temporary.makeFolder("b")
        try world.temporary.write("b/x", "x")
        await #expect(throws: SyncError.self) { try await world.sync { $0.maximumDeletions = 100 } }
        #expect(try world.temporary.files().count { $0.hasPrefix("away/") } == 9)
        try world.temporary.rename("b", "wrong")
        try world.temporary.rename("away", "b")
        #expect(try await world.sync { $0.maximumDeletions = 100 }.removed == 8)
    }

    @Test("folders that overlap, an archive inside, and two runs at a time are refused")
    func overlaps() async throws {
        let world = try SyncWorld()
        #expect(throws: SyncError.overlapping(a: world.a, b: world.a)) {
            _ = try SyncRun(a: world.a, b: world.a, options: world.options)
        }
        #expect(throws: SyncError.overlapping(a: world.temporary.path, b: world.b)) {
            _ = try SyncRun(a: world.temporary.path, b: world.b, options: world.options)
        }
        var options = world.options
        options.archive = world.b + "/state"
        #expect(throws: SyncError.archiveInside(path: world.b + "/state", folder: world.b)) {
            _ = try SyncRun(a: world.a, b: world.b, options: options)
        }
        let first = try SyncRun(a: world.a, b: world.b, options: world.options)
        #expect { _ = try SyncRun(a: world.a, b: world.b, options: world.options) } throws: { error in
            if case SyncError.inUse(_, getpid()) = error { true } else { false }
        }
        _ = try await first.run()
        #expect(throws: TreeScanError.missing(path: world.temporary["no"])) {
            _ = try SyncRun(a: world.a, b: world.temporary["no"], options: world.options)
        }
    }

    @Test("a pair is free as soon as its run is dropped, though a child still has the lock's file")
    func freesTheLock() throws {
        let world = try SyncWorld()
        var run: SyncRun? = try SyncRun(a: world.a, b: world.b, options: world.options)
        let name = try #require(try world.temporary.files().first { $0.hasSuffix(".lock") })
        let child = try #require(SharedOpenFile(path: world.temporary[name]))
        #expect(run != nil)
        run = nil
        _ = try SyncRun(a: world.a, b: world.b, options: world.options)
        withExtendedLifetime(child) {}
    }

    @Test("a refused run closes its own descriptor only, and only once")
    func refusedLock() async throws {
        let world = try SyncWorld()
        let path = world.temporary["lock"]
        let lock = try ArchiveLock(path: path)
        // A thread that opens and closes descriptors meanwhile. It gets the numbers that are free.
        async let lost = Task.detached {
            var lost = 0
            for _ in 0..<50_000 where close(unsafe open("/dev/null", O_RDONLY | O_CLOEXEC)) != 0 { lost += 1 }
            return lost
        }.value
        for _ in 0..<20_000 { #expect(throws: SyncError.self) { _ = try ArchiveLock(path: path) } }
        #expect(await lost == 0)
        withExtendedLifetime(lock) {}
    }

    @Test("a damaged archive, a newer one and one of another program are refused, and nothing is changed")
    func archives() async throws {
        let world = try SyncWorld()
        try world.temporary.write("a/f", "f")
        try await world.sync()
        let name = try #require(try world.temporary.files().first { $0.hasSuffix(".sqlite") })
        #expect(EntryStatus(Array(world.temporary[name].utf8), in: AT_FDCWD)?.mode == 0o600)
        let whole = try Data(contentsOf: URL(fileURLWithPath: world.temporary[name]))
        try world.temporary.remove("a/f")
        try world.temporary.write("a/g", "g")

        try world.temporary.write(name, "this is no database, but a text of some length")
        await #expect(throws: SyncError.self) { try await world.sync() }
        try world.temporary.write(name, bytes: Array(whole.prefix(whole.count / 2)))
        await #expect(throws: SyncError.self) { try await world.sync() }
        // A count in the head of the last page: no read notices it, and only the look at the whole file does.
        var odd = whole
        odd[whole.count - 4096 + 7] = 99
        try odd.write(to: URL(fileURLWithPath: world.temporary[name]))
        await #expect {
            try await world.sync()
        } throws: { error in
            if case SyncError.damagedArchive = error { true } else { false }
        }
        for (pragma, number) in [("user_version", Int32(2)), ("application_id", 7)] {
            try whole.write(to: URL(fileURLWithPath: world.temporary[name]))
            let queue = try DatabaseQueue(path: world.temporary[name])
            try await queue.write { try $0.execute(sql: "PRAGMA \(pragma) = \(number)") }
            try queue.close()
            await #expect(throws: SyncError.self) { try await world.sync() }
        }
        #expect(try world.temporary.files().filter { $0.hasPrefix("b/") } == ["b/f"])
        try whole.write(to: URL(fileURLWithPath: world.temporary[name]))
        try await world.sync { $0.maximumDeletions = 100 }
        #expect(world.difference() == [])
    }

    @Test("a file without room waits for the run that has it, and nothing is lost", .enabled(if: SmallDisk.isAvailable))
    func fullDisk() async throws {
        let world = try SyncWorld()
        let disk = try SmallDisk(at: world.temporary, megabytes: 2)
        try world.temporary.write("a/small", "s")
        try world.temporary.write("a/z", bytes: SeededGenerator.noise(4 << 20, seed: 6))
        let first = try await SyncRun(a: world.a, b: disk.path, options: world.options).run()
        #expect(first.skipped.count == 1 && first.copied == 1, "\(first)")
        #expect(try world.leftovers() == [])
        try disk.grow(megabytes: 8)
        let report = try await SyncRun(a: world.a, b: disk.path, options: world.options).run()
        #expect(report.isInStep && TreePicture(disk.path, times: true).lines.count == 3)
    }

    @Test("sockets are left out with a line, and entries without rights with their reason")
    func leftOut() async throws {
        let world = try SyncWorld()
        try world.temporary.write("a/f", "f")
        try world.temporary.write("a/secret/g", "g")
        let socket = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(socket) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let path = world.temporary["a/s"]
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path.utf8.prefix(100)) }
        let isBound = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(socket, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
            }
        }
        #expect(isBound)
        try world.temporary.setMode("a/secret", 0)
        let report = try await world.sync()
        // Root reads everything.
        #expect(report.skipped.count == (geteuid() == 0 ? 1 : 2), "\(report)")
        #expect(report.skipped.contains { $0.contains("a socket is not synced") })
        #expect(world.exists("b/f") && !world.exists("b/s"))
        // What became unreadable is not removed on the other side.
        try world.temporary.setMode("a/secret", 0o755)
        try await world.sync()
        try world.temporary.setMode("a/secret", 0)
        try await world.sync()
        #expect(geteuid() == 0 || world.exists("b/secret/g"))
    }
}
