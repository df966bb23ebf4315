internal import Glibc
internal import TreeScan

/// A database and its companions.
public struct DatabaseFiles: Sendable {
    private let path: String

    /// Names a database.
    public init(_ path: String) {
        self.path = path
    }

    /// Renames the database with its companions to `<name>.<label>-<time>`, and returns the new path.
    ///
    /// - Parameter time: Nanoseconds since 1970.
    /// - Throws: `IndexError.directory`.
    public func moveAside(label: String, time: Int64) throws(IndexError) -> String {
        let base = "\(path).\(label)-\(time / 1_000_000_000)"
        var target = base
        var attempt = 1
        while unsafe access(target, F_OK) == 0 {
            attempt += 1
            target = "\(base).\(attempt)"
        }
        for suffix in ["", "-wal", "-shm"] {
            let isMissing = unsafe access(path + suffix, F_OK) != 0
            guard !isMissing, unsafe rename(path + suffix, target + suffix) != 0 else { continue }
            let directory = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
            throw .directory(path: directory, reason: "rename \(path + suffix): \(SystemError.text(errno))")
        }
        return target
    }
}
