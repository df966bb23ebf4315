import Foundation
import SampleTestSupport

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

    /// Returns options whose clock stands still. The date in the names of conflicts is then the same all the time, also
    /// at midnight.
    func optionsAtOneTime() -> SyncOptions {
        var options = options
        let time = options.now()
        options.now = { time }
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

    /// Fills A with every kind of entry that is synced.
    func makeZoo() throws {
        try temporary.makeZoo(in: "a", large: 1 << 20)
        try temporary.setMode("a/empty folder", 0o555)
    }

    func exists(_ name: String) -> Bool { temporary.exists(name) }
}
