internal import Foundation

/// The choice between one wait for a whole file system, syncfs(2), and a wait for each file, fsync(2).
///
/// syncfs(2) also writes what other programs have not written yet. A file costs about a millisecond of its own, in
/// which a disk can write about 128 KiB. So one wait for all is the better one up to 128 KiB of others for each file.
enum SyncChoice {
    /// The data of other programs that one wait may take along for each file, in bytes.
    static let share: Int64 = 128 << 10

    /// Whether one wait for all is better.
    ///
    /// - Parameters:
    ///   - count: The number of files and folders to wait for.
    ///   - others: The bytes of other programs that are not on the disk; nil if it is not known.
    static func isOneWaitBetter(for count: Int, others: Int64?) -> Bool {
        guard count > 1, let others else { return false }
        return others <= Int64(count) * share
    }

    /// The bytes of all file systems that are not on the disk, proc_meminfo(5); nil if it is not known.
    static func unwrittenBytes(root: String = "/proc") -> Int64? {
        guard let text = try? String(contentsOfFile: root + "/meminfo", encoding: .utf8) else { return nil }
        var sum: Int64?
        for line in text.utf8.split(separator: UInt8(ascii: "\n")) {
            let words = line.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: true)
            guard words.count > 1, words[0].elementsEqual("Dirty:".utf8) || words[0].elementsEqual("Writeback:".utf8),
                let kibibytes = Int64(Substring(words[1]))
            else { continue }
            sum = (sum ?? 0) + kibibytes << 10
        }
        return sum
    }
}
