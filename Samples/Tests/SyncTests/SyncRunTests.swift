import Foundation
import GRDB
import Glibc
import SampleTestSupport
import Synchronization
import Testing
import TreeScan

@testable import Sync

@Suite("Runs")
struct SyncRunTests {
    @Test("a first copy has everything, and a second run nothing to do", arguments: SyncMode.allCases)
    func firstCopy(mode: SyncMode) async throws {
        let world = try SyncWorld()
        try world.makeZoo()
        let report = try await world.sync { $0.mode = mode }
        #expect(report.isInStep && report.copied == 10)
        #expect(TreePicture(world.b) == TreePicture(world.a))
        let second = try await world.sync { $0.mode = mode }
        #expect(second.copied == 0 && second.described == 0 && second.unchanged == 14, "\(second)")
        #expect(try world.leftovers() == [])
    }

    @Test("changes of every kind go both ways")
    func bothWays() async throws {
        let world = try SyncWorld()
        try world.makeZoo()
        try await world.sync()
        try world.temporary.write("a/plain.txt", "changed on A")
        try world.temporary.write("b/large", "changed on B")
        try world.temporary.setMode("b/deep/er/still/file", 0o600)
        try world.temporary.remove("a/link")
        try world.temporary.makeLink("a/link", to: "empty")
        try world.temporary.remove("b/pipe")
        try world.temporary.write("b/pipe/now a folder", "f")
        try world.temporary.remove("a/dangling")
        try world.temporary.write("a/fresh/one", "1")
        let report = try await world.sync()
        #expect(report.isInStep, "\(report)")
        #expect(world.difference() == [])
        #expect(try world.temporary.read("b/plain.txt") == "changed on A")
        #expect(try world.temporary.read("a/large") == "changed on B")
        #expect(try world.temporary.read("a/pipe/now a folder") == "f")
        #expect(!world.exists("b/dangling") && world.exists("b/fresh/one"))
        #expect(try await world.sync().copied == 0)
    }

    @Test("a folder becomes a file, and its entries go")
    func folderToFile() async throws {
        let world = try SyncWorld()
        try world.temporary.write("a/d/e/f", "f")
        for number in 0..<9 { try world.temporary.write("a/f\(number)", "f") }
        try await world.sync()
        try world.temporary.remove("a/d")
        try world.temporary.write("a/d", "a file now")
        #expect(try await world.sync().isInStep)
        #expect(try world.temporary.read("b/d") == "a file now")
        #expect(try await world.sync().copied == 0)
    }

    @Test("a removed folder stays if the other side has something new in it")
    func neededFolder() async throws {
        let world = try SyncWorld()
        for number in 0..<9 { try world.temporary.write("a/d/f\(number)", "f") }
        try world.temporary.write("a/other", "o")
        try await world.sync()
        try world.temporary.remove("a/d")
        try world.temporary.write("b/d/new", "new")
        let report = try await world.sync { $0.maximumDeletions = 100 }
        #expect(report.isInStep)
        #expect(try world.temporary.files().filter { $0.hasPrefix("a/d/") } == ["a/d/new"])
        #expect(world.difference() == [])
    }

    @Test("a conflict keeps both, under names that no other entry has")
    func conflict() async throws {
        let world = try SyncWorld()
        try world.temporary.write("a/f.txt", "A")
        try world.temporary.write("b/f.txt", "B is longer")
        let date = world.options.date
        try world.temporary.write("a/f.conflict-B-\(date).txt", "taken")
        let report = try await world.sync()
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

    @Test("a mirror undoes the changes of B, and leaves A alone")
    func mirror() async throws {
        let world = try SyncWorld()
        try world.makeZoo()
        try await world.sync { $0.mode = .mirror }
        let before = TreePicture(world.a)
        try world.temporary.write("b/large", "changed on B")
        try world.temporary.write("b/more", "more")
        try world.temporary.remove("b/plain.txt")
        try await world.sync { $0.mode = .mirror }
        #expect(TreePicture(world.a) == before)
        #expect(world.difference() == [])
    }

    @Test("a renamed file is renamed, and no byte of it is written", arguments: Side.allCases)
    func rename(side: Side) async throws {
        let world = try SyncWorld()
        try world.temporary.write("a/d/f", bytes: SeededGenerator.noise(100_000, seed: 1))
        try world.temporary.write("a/other", "o")
        try await world.sync()
        let (here, there) = side == .a ? ("a", "b") : ("b", "a")
        let before = inode(world.temporary[there + "/d/f"])
        try world.temporary.makeFolder(here + "/e")
        try world.temporary.rename(here + "/d/f", here + "/e/g")
        let report = try await world.sync()
        #expect(report.renamed == 1 && report.copied == 0 && report.bytes == 0, "\(report)")
        #expect(inode(world.temporary[there + "/e/g"]) == before)
        #expect(world.difference() == [])
        #expect(try await world.sync().renamed == 0)
    }

    @Test("times that did not change with the content do not hide it")
    func hiddenChange() async throws {
        let world = try SyncWorld()
        try world.temporary.write("a/f", "one")
        try world.temporary.setTime("a/f", 1000, 5)
        try await world.sync()
        try world.temporary.write("a/f", "two")
        try world.temporary.setTime("a/f", 1000, 5)
        #expect(try await world.sync().isInStep)
        #expect(try world.temporary.read("b/f") == "two")
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

    // MARK: Large files

    @Test("a large file goes on where it was, and takes what it can from the old version")
    func large() async throws {
        struct Stop: Error {}
        let world = try SyncWorld()
        var bytes = SeededGenerator.noise(12 << 20, seed: 3)
        try world.temporary.write("a/f", bytes: bytes)
        let parts = Counter()
        // The task is cancelled in the middle of the copy.
        let task = Task {
            try await world.sync {
                $0.largeFile = 1 << 20
                $0.reached = { step in
                    if step == .partWritten, parts.next() == 2 { unsafe withUnsafeCurrentTask { unsafe $0?.cancel() } }
                }
            }
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        let second = try await world.sync { $0.largeFile = 1 << 20 }
        #expect(second.resumedBytes > 0 && second.resumedBytes < 12 << 20, "\(second)")
        #expect(world.difference() == [])

        bytes.insert(contentsOf: [1, 2, 3], at: 5 << 20)
        try world.temporary.write("a/f", bytes: bytes)
        let third = try await world.sync { $0.largeFile = 1 << 20 }
        #expect(third.copied == 1 && third.reusedBytes > 9 << 20, "\(third)")
        #expect(world.difference() == [])
        #expect(try world.leftovers() == [])
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

    @Test("a damaged archive, a newer one and one of another program are refused, and nothing is changed")
    func archives() async throws {
        let world = try SyncWorld()
        try world.temporary.write("a/f", "f")
        try await world.sync()
        let name = try #require(try world.temporary.files().first { $0.hasSuffix(".sqlite") })
        var status = stat()
        #expect(unsafe stat(world.temporary[name], &status) == 0 && status.st_mode & 0o777 == 0o600)
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

    @Test("a side without room stops the run, and loses nothing", .enabled(if: SmallDisk.isAvailable))
    func fullDisk() async throws {
        let world = try SyncWorld()
        let disk = try SmallDisk(at: world.temporary, megabytes: 2)
        try world.temporary.write("a/small", "s")
        try world.temporary.write("a/z", bytes: SeededGenerator.noise(4 << 20, seed: 6))
        await #expect(throws: SyncError.noSpace(.b)) {
            _ = try await SyncRun(a: world.a, b: disk.path, options: world.options).run()
        }
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

/// The inode of a file.
private func inode(_ path: String) -> UInt64 {
    var status = stat()
    return unsafe stat(path, &status) == 0 ? UInt64(status.st_ino) : 0
}

/// Counts calls from any thread.
private final class Counter: Sendable {
    private let count = Atomic<Int>(0)

    func next() -> Int { count.wrappingAdd(1, ordering: .relaxed).newValue }
}
