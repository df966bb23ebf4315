internal import TreeScan

/// An entry of one side as a scan found it.
struct Observation: Sendable, Hashable {
    var path: RelativePath
    /// Regular, directory, symbolic link or fifo.
    var kind: FileKind
    var metadata: Metadata
    /// The target of a symbolic link.
    var target: [UInt8] = []
    var stamp: FileStamp

    /// Whether an entry is still this one, by inode, kind, length and modification time. A rename keeps all of them.
    func isSame(as status: EntryStatus) -> Bool {
        kind == status.kind && stamp.inode == status.stamp.inode
            && (kind == .directory || (stamp.size == status.stamp.size && stamp.modified == status.stamp.modified))
    }
}

/// One side at the moment of a scan.
struct SideScan: Sendable {
    /// By path, in the order of bytes.
    var entries: [Observation] = []
    /// Entries that were not read, or are of no kind that is kept in step. All below them is unknown, too.
    var blocked: Set<RelativePath> = []
    /// Temporary files of an earlier run.
    var leftovers: [RelativePath] = []
    /// The start, in nanoseconds since 1970.
    var time: Int64 = 0
    /// The entries that were left out, for people.
    var skipped: [String] = []
    /// Whether names that differ in case only are one name.
    var foldsCase = false

    func entry(_ path: RelativePath) -> Observation? {
        var (low, high) = (0, entries.count)
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].path < path { low = middle + 1 } else { high = middle }
        }
        return low < entries.count && entries[low].path == path ? entries[low] : nil
    }
}
