package import TreeScan

/// An entry of one side as a scan found it.
package struct Observation: Sendable, Hashable {
    package var path: RelativePath
    /// Regular, directory, symbolic link or fifo.
    package var kind: FileKind
    package var metadata: Metadata
    /// The target of a symbolic link.
    package var target: [UInt8] = []
    package var stamp: FileStamp
    /// The number of names of the inode, 1 or more. Some of them may be outside of the folder.
    package var links: UInt64

    package init(
        path: RelativePath, kind: FileKind, metadata: Metadata, target: [UInt8] = [], stamp: FileStamp,
        links: UInt64 = 1
    ) {
        self.path = path
        self.kind = kind
        self.metadata = metadata
        self.target = target
        self.stamp = stamp
        self.links = links
    }

    /// Whether an entry is still this one, by inode, kind, length and modification time. A rename keeps all of them.
    package func isSame(as status: EntryStatus) -> Bool {
        kind == status.kind && stamp.inode == status.stamp.inode
            && (kind == .directory || (stamp.size == status.stamp.size && stamp.modified == status.stamp.modified))
    }
}

/// One side at the moment of a scan.
package struct SideScan: Sendable {
    /// By path, in the order of bytes.
    package var entries: [Observation] = []
    /// Entries that were not read, or are of no kind that is kept in step. All below them is unknown, too.
    package var blocked: Set<RelativePath> = []
    /// Temporary files of an earlier run.
    package var leftovers: [RelativePath] = []
    /// The start, in nanoseconds since 1970.
    package var time: Int64 = 0
    /// The entries that were left out, for people.
    package var skipped: [String] = []
    /// Whether names that differ in case only are one name.
    package var foldsCase = false

    package init() {}

    package func entry(_ path: RelativePath) -> Observation? {
        var (low, high) = (0, entries.count)
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].path < path { low = middle + 1 } else { high = middle }
        }
        return low < entries.count && entries[low].path == path ? entries[low] : nil
    }
}
