#if SQLite
import Foundation
import Glibc

/// Lines that several processes append to one file. A line is there when ``write(_:)`` returns, whatever becomes of the
/// process.
struct Journal: Sendable {
    private let file: Int32

    init(_ path: String) throws {
        file = unsafe open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw KillsError("cannot open \(path)") }
    }

    func write(_ words: Any...) {
        let line = Array((words.map { "\($0)" }.joined(separator: " ") + "\n").utf8)
        let count = unsafe line.withUnsafeBytes { unsafe Glibc.write(file, $0.baseAddress, $0.count) }
        precondition(count == line.count, "the journal cannot be written")
    }

    static func lines(_ path: String) throws -> [[Substring]] {
        try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").map { $0.split(separator: " ") }
    }
}

struct KillsError: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
#endif
