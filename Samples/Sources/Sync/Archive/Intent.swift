internal import TreeScan

/// A change that was begun. It is written before the names change, and removed with the note of the result.
///
/// After a kill, the next run finds out from the names how far the change came, and ends it.
struct Intent: Codable, Sendable {
    enum Work: String, Codable {
        /// The temporary file changes places with the entry under the name, or gets the name.
        case put
        /// The entry gets the temporary name, and is removed.
        case delete
        /// The folder is made, and gets its metadata at the end of the run.
        case makeFolder
    }

    /// One side's record, as in the archive.
    struct State: Codable, Sendable {
        var mode: UInt32
        var owner: UInt32
        var group: UInt32
        var modified: Int64
        var size: Int64
        var changed: Int64
        var inode: UInt64
        var isRacy: Bool

        init(_ state: ArchiveEntry.SideState) {
            mode = state.metadata.mode
            owner = state.metadata.owner
            group = state.metadata.group
            modified = state.metadata.modified
            size = state.size
            changed = state.changed
            inode = state.inode
            isRacy = state.isRacy
        }

        var state: ArchiveEntry.SideState {
            ArchiveEntry.SideState(
                metadata: Metadata(mode: mode, owner: owner, group: group, modified: modified), size: size,
                changed: changed, inode: inode, isRacy: isRacy)
        }
    }

    var work: Work
    var side: Side
    var path: [UInt8]
    /// The temporary name in the folder of the path.
    var temporary: [UInt8] = []
    /// The kind and the link target of the new entry.
    var kind: String = ""
    var target: [UInt8] = []
    /// The digest of the new entry's content, as in the archive.
    var digest: [UInt8]?
    /// The new entry, as it was written under the temporary name.
    var written: State?
    /// The other side's entry, as it was read.
    var source: State?
    /// The entry that leaves the name.
    var old: State?
    var oldKind: String = ""
}

/// A large file that is half written. The bytes before `done` are on the disk.
struct PartialFile: Codable, Sendable {
    var side: Side
    var path: [UInt8]
    var temporary: [UInt8]
    /// The inode of the temporary file.
    var inode: UInt64
    /// The file that is copied, as it was when the copy began.
    var source: Intent.State
    var done: Int64
}
