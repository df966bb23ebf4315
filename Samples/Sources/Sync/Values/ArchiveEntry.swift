internal import SafeFiles
internal import TreeScan

/// An entry as both sides had it at the end of the last sync.
struct ArchiveEntry: Sendable, Hashable {
    /// What one side had. File systems differ in the times and modes that they keep, so each side has its own.
    struct SideState: Sendable, Hashable {
        var metadata: Metadata
        var size: Int64
        /// 0 if it is not known.
        var changed: Int64
        var inode: UInt64
        /// Whether a later write could have left all this as it is.
        var isRacy: Bool
        /// The extended attributes; nil if they are not known, or the file system has none.
        var attributes: AttributePrint?
    }

    var path: RelativePath
    var kind: FileKind
    var target: [UInt8]
    var sides: Pair<SideState>
    /// The SHA-256 of the content; nil if it is not known. It tells whether a file is as before whose state is racy.
    var digest: [UInt8]?

    /// The entry of the pair in the other order.
    var turned: ArchiveEntry {
        var entry = self
        entry.sides = Pair(a: sides.b, b: sides.a)
        return entry
    }

    static func == (left: Self, right: Self) -> Bool {
        left.path == right.path && left.kind == right.kind && left.target == right.target
            && left.sides.a == right.sides.a && left.sides.b == right.sides.b && left.digest == right.digest
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(path)
    }
}

extension ArchiveEntry.SideState {
    /// The width of the doubt about a time stamp. Clocks of file systems advance every 10 ms or less; file systems that
    /// store whole seconds may store every second one only.
    private static func window(_ time: Int64) -> Int64 {
        time % 1_000_000_000 == 0 ? 2_000_000_000 : 20_000_000
    }

    /// The state of an entry that was looked at, at `time` or later. A write after that sets the change time to `time`
    /// or later.
    init(_ entry: Observation, at time: Int64) {
        self.init(
            metadata: entry.metadata, size: entry.stamp.size, changed: entry.stamp.changed, inode: entry.stamp.inode,
            isRacy: entry.stamp.changed >= time.subtractingClamped(Self.window(entry.stamp.changed)))
    }

    /// The state of an entry that was just written here, with a modification time of the past. A later write sets that
    /// time to the present.
    init(written status: EntryStatus, metadata: Metadata) {
        let distance = status.stamp.changed.subtractingClamped(status.stamp.modified)
        self.init(
            metadata: metadata, size: status.stamp.size, changed: status.stamp.changed, inode: status.stamp.inode,
            isRacy: distance.magnitude < Self.window(status.stamp.modified).magnitude)
    }

    /// Whether the state can be racy when the entry, which was just written here, has its name.
    var mayBecomeRacy: Bool { changed.subtractingClamped(metadata.modified) < Self.window(metadata.modified) }

    /// The state of an entry that was written here and has its name now. A write since then is one of the user: the
    /// next run finds it.
    func named(_ now: EntryStatus) -> Self {
        guard now.stamp.inode == inode, now.stamp.size == size, now.stamp.modified == metadata.modified else {
            var state = self
            state.changed = 0
            return state
        }
        var state = Self(written: now, metadata: metadata)
        state.attributes = attributes
        return state
    }
}
