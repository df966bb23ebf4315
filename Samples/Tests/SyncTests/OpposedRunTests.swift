import Foundation
import Glibc
import SampleTestSupport
import Synchronization
import Testing

@testable import Sync

@Suite("Runs with a folder, and with an agent", .timeLimit(.minutes(5)))
struct OpposedRunTests {
    @Test(
        "a first copy has everything, and a second run nothing to do", arguments: Opposite.allCases, SyncMode.allCases)
    func firstCopy(opposite: Opposite, mode: SyncMode) async throws {
        let pair = try await OpposedWorld(opposite)
        try pair.world.makeZoo()
        let report = try await pair.sync { $0.mode = mode }
        #expect(report.isInStep && report.copied == 10, "\(report)")
        #expect(TreePicture(pair.world.b) == TreePicture(pair.world.a))
        let second = try await pair.sync { $0.mode = mode }
        #expect(second.copied == 0 && second.described == 0 && second.unchanged == 14, "\(second)")
        #expect(try pair.world.leftovers() == [])
    }

    @Test("a first copy from B has everything", arguments: Opposite.allCases)
    func firstCopyBack(opposite: Opposite) async throws {
        let pair = try await OpposedWorld(opposite)
        try pair.folder.makeZoo(in: "b", large: 1 << 20)
        let report = try await pair.sync()
        #expect(report.isInStep && report.copied == 10, "\(report)")
        #expect(pair.world.difference() == [])
        #expect(try await pair.sync().copied == 0)
    }

    @Test("changes of every kind go both ways", arguments: Opposite.allCases)
    func bothWays(opposite: Opposite) async throws {
        let pair = try await OpposedWorld(opposite)
        try pair.world.makeZoo()
        try await pair.sync()
        try pair.folder.write("a/plain.txt", "changed on A")
        try pair.folder.write("b/large", "changed on B")
        try pair.folder.setMode("b/deep/er/still/file", 0o600)
        try pair.folder.remove("a/link")
        try pair.folder.makeLink("a/link", to: "empty")
        try pair.folder.remove("b/pipe")
        try pair.folder.write("b/pipe/now a folder", "f")
        try pair.folder.remove("a/dangling")
        try pair.folder.write("a/fresh/one", "1")
        let report = try await pair.sync()
        #expect(report.isInStep, "\(report)")
        #expect(pair.world.difference() == [])
        #expect(try pair.folder.read("b/plain.txt") == "changed on A")
        #expect(try pair.folder.read("a/large") == "changed on B")
        #expect(try pair.folder.read("a/pipe/now a folder") == "f")
        #expect(!pair.world.exists("b/dangling") && pair.world.exists("b/fresh/one"))
        #expect(try await pair.sync().copied == 0)
    }

    @Test("a folder becomes a file, and its entries go", arguments: Opposite.allCases)
    func folderToFile(opposite: Opposite) async throws {
        let pair = try await OpposedWorld(opposite)
        try pair.folder.write("a/d/e/f", "f")
        for number in 0..<9 { try pair.folder.write("a/f\(number)", "f") }
        try await pair.sync()
        try pair.folder.remove("a/d")
        try pair.folder.write("a/d", "a file now")
        #expect(try await pair.sync().isInStep)
        #expect(try pair.folder.read("b/d") == "a file now")
        #expect(try await pair.sync().copied == 0)
    }

    @Test("a removed folder stays if the other side has something new in it", arguments: Opposite.allCases)
    func neededFolder(opposite: Opposite) async throws {
        let pair = try await OpposedWorld(opposite)
        for number in 0..<9 { try pair.folder.write("a/d/f\(number)", "f") }
        try pair.folder.write("a/other", "o")
        try await pair.sync()
        try pair.folder.remove("a/d")
        try pair.folder.write("b/d/new", "new")
        let report = try await pair.sync { $0.maximumDeletions = 100 }
        #expect(report.isInStep)
        #expect(try pair.folder.files().filter { $0.hasPrefix("a/d/") } == ["a/d/new"])
        #expect(pair.world.difference() == [])
    }

    @Test("a conflict keeps both, and a mirror undoes the changes of B alone", arguments: Opposite.allCases)
    func conflictAndMirror(opposite: Opposite) async throws {
        let pair = try await OpposedWorld(opposite)
        try pair.folder.write("a/f.txt", "A")
        try pair.folder.write("b/f.txt", "B is longer")
        for side in ["a", "b"] { try pair.folder.write("\(side)/same", "same") }
        let options = pair.world.optionsAtOneTime()
        let report = try await pair.sync { $0.now = options.now }
        #expect(report.conflicts.count == 1, "\(report)")
        #expect(try pair.folder.read("b/f.txt") == "A")
        #expect(try pair.folder.read("a/f.conflict-B-\(options.date).txt") == "B is longer")
        #expect(pair.world.difference() == [])
        let before = TreePicture(pair.world.a)
        try pair.folder.write("b/same", "not the same")
        try pair.folder.write("b/more", "more")
        try pair.folder.remove("b/f.txt")
        try await pair.sync { $0.mode = .mirror }
        #expect(TreePicture(pair.world.a) == before)
        #expect(pair.world.difference() == [])
    }

    @Test(
        "a renamed file is renamed, and no byte of it is written", arguments: Opposite.allCases, Side.allCases)
    func rename(opposite: Opposite, side: Side) async throws {
        let pair = try await OpposedWorld(opposite)
        try pair.folder.write("a/d/f", bytes: SeededGenerator.noise(100_000, seed: 1))
        try pair.folder.write("a/other", "o")
        try await pair.sync()
        let (here, there) = side == .a ? ("a", "b") : ("b", "a")
        let before = inode(pair.folder[there + "/d/f"])
        try pair.folder.makeFolder(here + "/e")
        try pair.folder.rename(here + "/d/f", here + "/e/g")
        let report = try await pair.sync()
        #expect(report.renamed == 1 && report.copied == 0 && report.bytes == 0, "\(report)")
        #expect(inode(pair.folder[there + "/e/g"]) == before)
        #expect(pair.world.difference() == [])
        #expect(try await pair.sync().renamed == 0)
    }

    @Test(
        "a large file goes on where it was, and takes what it can from the old version",
        arguments: Opposite.allCases, Side.allCases)
    func large(opposite: Opposite, side: Side) async throws {
        let pair = try await OpposedWorld(opposite)
        let name = side == .a ? "a/f" : "b/f"
        var bytes = SeededGenerator.noise(12 << 20, seed: 3)
        try pair.folder.write(name, bytes: bytes)
        try pair.folder.write("a/other", "o")
        let parts = Atomic<Int>(0)
        // The task is cancelled in the middle of the copy.
        let task = Task {
            try await pair.sync {
                $0.largeFile = 1 << 20
                $0.reached = { step in
                    guard step == .partWritten, parts.wrappingAdd(1, ordering: .relaxed).newValue == 2 else { return }
                    unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
                }
            }
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        let second = try await pair.sync { $0.largeFile = 1 << 20 }
        #expect(second.resumedBytes > 0 && second.resumedBytes < 12 << 20, "\(second)")
        #expect(pair.world.difference() == [])

        bytes.insert(contentsOf: [1, 2, 3], at: 5 << 20)
        try pair.folder.write(name, bytes: bytes)
        let third = try await pair.sync { $0.largeFile = 1 << 20 }
        #expect(third.copied == 1 && third.reusedBytes > 9 << 20, "\(third)")
        #expect(pair.world.difference() == [])
        #expect(try pair.world.leftovers() == [])
    }
}

/// The inode of a file.
private func inode(_ path: String) -> UInt64 {
    var status = stat()
    return unsafe stat(path, &status) == 0 ? UInt64(status.st_ino) : 0
}
