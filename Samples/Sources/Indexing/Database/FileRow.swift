internal import Foundation
internal import GRDB
internal import TreeScan

/// One row of the table `file`.
struct FileRow {
    var id: Int64
    var path: RelativePath
    var stamp: FileStamp
    var state: FileState
    var isRacy: Bool
    var isDocumented: Bool
    var isTruncated: Bool
    var reason: FileReason?

    /// The columns in the order in which `init` reads them.
    static let columns =
        "id, path, size, modified, changed, inode, device, state, racy, documented, truncated, reason"

    init(_ row: Row) {
        id = row[0]
        path = RelativePath(bytes: Array(row[1] as Data))
        stamp = FileStamp(
            size: row[2],
            modified: row[3],
            changed: row[4],
            inode: UInt64(bitPattern: row[5] as Int64),
            device: UInt64(bitPattern: row[6] as Int64)
        )
        state = FileState(rawValue: row[7]) ?? .pending
        isRacy = row[8]
        isDocumented = row[9]
        isTruncated = row[10]
        reason = FileReason(rawValue: row[11])
    }

    /// Whether the file must be read again, given its present stamp.
    ///
    /// - Parameter canConvert: Whether the converter of the file is installed now.
    func isStale(_ current: FileStamp, canConvert: @autoclosure () -> Bool) -> Bool {
        guard state != .pending else { return false }
        if isRacy || stamp != current { return true }
        return switch reason {
        // The same bytes would fail in the same way.
        case .conversionFailed, .undecodable: false
        case .converterMissing: canConvert()
        // Another failure says nothing about the file: a right, a mount or a folder above it may have changed since.
        default: state == .failed
        }
    }

    /// The row's part of the counts.
    var counts: IndexCounts {
        IndexCounts(state: state, reason: reason, isTruncated: isTruncated)
    }
}
