import Foundation
import Glibc
import SampleTestSupport
import Testing
import TreeScan

@testable import Backup

/// Files that change while they are read, and those that cannot be read.
@Suite("Readings of files")
struct ReadingTests {
    /// Writes bytes at a place of a file, and leaves a hole before it.
    private func write(_ bytes: [UInt8], to path: String, at offset: Int) throws {
        let file = unsafe open(path, O_WRONLY | O_CREAT, 0o600)
        defer { close(file) }
        guard unsafe pwrite(file, bytes, bytes.count, off_t(offset)) == bytes.count else {
            throw CocoaError(.fileWriteUnknown)
        }
    }

    @Test("a file that grew behind a hole after the look at its size has no data up to that size")
    func grown() throws {
        let temporary = try TemporaryFolder()
        try write([1, 2, 3], to: temporary["file"], at: 1 << 20)
        let file = try SourceFile("file", in: RootFolder(temporary.path), for: .reading)
        #expect(try file.extents(size: 4096) == [])
    }

    @Test("a file with holes that gets shorter while it is read keeps its data at their places")
    func shrunk() throws {
        let temporary = try TemporaryFolder()
        let (piece, far): (Int64, Int64) = (64 << 10, 1 << 20)
        let noise = SeededGenerator.noise(Int(piece), seed: 7)
        try write(noise, to: temporary["file"], at: 0)
        try write(noise, to: temporary["file"], at: Int(far))
        let reading = try FileReading("file", in: RootFolder(temporary.path), at: 0)
        try #require(reading.data == [0..<piece, far..<(far + piece)])
        let blob = Identifier([UInt8](repeating: 1, count: 32))
        func content(_ stored: Int64) -> TreeNode.Content {
            let chunks = [TreeNode.Chunk(blob: blob, length: Int(stored))]
            return reading.node(chunks, isComplete: false, isStable: false).content
        }
        for (stored, size, extents) in [
            (piece + 100, far + 100, [0..<piece, far..<(far + 100)]), (piece, piece, nil), (5, 5, nil),
        ] as [(Int64, Int64, [Range<Int64>]?)] {
            let chunks = [TreeNode.Chunk(blob: blob, length: Int(stored))]
            #expect(content(stored) == .file(TreeNode.FileContent(size: size, extents: extents, chunks: chunks)))
        }
    }

    @Test("an entry that is gone is no problem, and one that a network folder has lost is")
    func stale() {
        for code in [ENOENT, ENOTDIR, ELOOP, ESTALE, EIO] {
            let file = SavedFile(FileSystemFailure(path: "file", operation: "open", code: code))
            let isProblem = if case .failed = file { true } else { false }
            #expect(isProblem == [ESTALE, EIO].contains(code), "\(code)")
        }
    }

    @Test("a file system without hard links gets all files")
    func withoutLinks() async throws {
        let world = try BackupWorld()
        try world.makeSmallZoo()
        try await world.backUp()
        let repository = try world.open(before: { $0.place == .target && $0.operation == .link ? ENOSYS : 0 })
        let latest = try repository.snapshot(named: "latest")
        let report = try await RestoreRun(repository, latest, to: world.target).run()
        #expect(report.problems == [] && report.incomplete >= 1)
        for name in ["one", "two", "text"] {
            #expect(try world.temporary.read("target/\(name)") == world.temporary.read("source/\(name)"))
        }
    }
}
