internal import Foundation
internal import Sync
internal import TreeScan

/// The status of an entry, in messages.
struct SeenStatus: Codable, Sendable {
    var kind: String
    var mode: UInt32
    var owner: UInt32
    var group: UInt32
    var size: Int64
    var modified: Int64
    var changed: Int64
    var inode: UInt64
    var device: UInt64

    init(_ status: EntryStatus) {
        kind = status.kind.rawValue
        mode = status.mode
        owner = status.owner
        group = status.group
        size = status.stamp.size
        modified = status.stamp.modified
        changed = status.stamp.changed
        inode = status.stamp.inode
        device = status.stamp.device
    }

    /// The status; nil if it makes no sense.
    var status: EntryStatus? {
        guard let kind = FileKind(rawValue: kind), size >= 0 else { return nil }
        return EntryStatus(
            kind: kind, mode: mode & 0o7777, owner: owner, group: group,
            stamp: FileStamp(size: size, modified: modified, changed: changed, inode: inode, device: device))
    }
}

/// An entry as a scan found it, in messages.
struct SeenEntry: Codable, Sendable {
    var path: Data
    var metadata: Metadata
    var target: Data
    var status: SeenStatus

    init(_ entry: Observation) {
        path = Data(entry.path.bytes)
        metadata = entry.metadata
        target = Data(entry.target)
        status = SeenStatus(
            EntryStatus(kind: entry.kind, mode: entry.metadata.mode, owner: 0, group: 0, stamp: entry.stamp))
    }

    /// The entry.
    ///
    /// - Throws: `WireError` if it makes no sense.
    func observation() throws(WireError) -> Observation {
        guard let status = status.status else { throw WireError("an entry has no kind or no length") }
        return Observation(
            path: try NameRules.path(Array(path)), kind: status.kind, metadata: metadata, target: Array(target),
            stamp: status.stamp)
    }
}
