import Foundation
import Glibc
import SampleTestSupport
import Testing
import TreeScan

@testable import Sync

/// Two folders and a place for the archive, for one test.
final class SyncWorld: Sendable {
    let temporary: TemporaryFolder

    var a: String { temporary["a"] }
    var b: String { temporary["b"] }
    var archive: String { temporary["archive"] }

    init() throws {
        temporary = try TemporaryFolder()
        try temporary.makeFolder("a")
        try temporary.makeFolder("b")
    }

    /// Options with a clock that runs ten seconds ahead: no file is so new that it must be compared again.
    var options: SyncOptions {
        var options = SyncOptions()
        let now = options.now
        options.now = { now() + 10_000_000_000 }
        options.archive = archive
        return options
    }

    @discardableResult
    func sync(_ change: (inout SyncOptions) -> Void = { _ in }) async throws -> SyncReport {
        var options = options
        change(&options)
        return try await SyncRun(a: a, b: b, options: options).run()
    }

    /// The entries that are in one picture only, without the two folders themselves.
    ///
    /// - Parameter folderTimes: Whether times of folders count. A kill may leave them as the run made them.
    func difference(folderTimes: Bool = true) -> [String] {
        func lines(_ path: String) -> Set<String> {
            Set(
                TreePicture(path).lines.dropFirst().map { line in
                    guard !folderTimes, line.contains(" mode 40"), let time = line.firstRange(of: " time ") else {
                        return line
                    }
                    return String(line[..<time.lowerBound])
                })
        }
        return lines(a).symmetricDifference(lines(b)).sorted()
    }

    /// The temporary files in both folders.
    func leftovers() throws -> [String] {
        try temporary.files().filter { $0.contains(".qos-sync-") }
    }

    /// Bytes from a seed.
    static func noise(_ count: Int, seed: UInt64) -> [UInt8] {
        SeededGenerator.noise(count, seed: seed)
    }

    /// Fills A with every kind of entry that is synced.
    func makeZoo() throws {
        try temporary.write("a/plain.txt", String(repeating: "a line of text\n", count: 500))
        try temporary.write("a/empty", "")
        try temporary.write("a/large", bytes: Self.noise(1 << 20, seed: 4))
        try temporary.write("a/deep/er/still/file", "down here")
        try temporary.makeFolder("a/empty folder")
        try temporary.makeLink("a/link", to: "plain.txt")
        try temporary.makeLink("a/dangling", to: "../no such\nplace")
        try temporary.makePipe("a/pipe")
        try temporary.setMode("a/deep/er", 0o750)
        try temporary.setMode("a/empty", 0o604)
        for name in [Array("new\nline".utf8), Array("bad".utf8) + [0xFF, 0xC0], Array("deep/\\\"'*?".utf8)] {
            let path = Array((a + "/").utf8) + name
            let file = unsafe open(path.map { CChar(bitPattern: $0) } + [0], O_WRONLY | O_CREAT, 0o640)
            guard file >= 0 else { throw CocoaError(.fileWriteUnknown) }
            _ = unsafe write(file, "x", 1)
            close(file)
        }
        try setTime("a/empty", -5, 123_456_789)
        try temporary.setMode("a/empty folder", 0o555)
    }

    func setTime(_ name: String, _ seconds: Int, _ nanoseconds: Int) throws {
        let time = timespec(tv_sec: seconds, tv_nsec: nanoseconds)
        guard unsafe utimensat(AT_FDCWD, temporary[name], [time, time], 0) == 0 else {
            throw CocoaError(.fileWriteUnknown)
        }
    }

    func exists(_ name: String) -> Bool {
        var status = stat()
        return unsafe lstat(temporary[name], &status) == 0
    }
}
