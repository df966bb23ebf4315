public import TreeScan

/// The result of a backup.
public struct BackupReport: Sendable {
    /// The new snapshot.
    public let snapshot: Snapshot
    /// The number of files that were not read, because they are as in the last snapshot.
    public let unchanged: Int
    /// The bytes of new blobs, before compression.
    public let newBytes: Int64
    /// The bytes of new packs.
    public let storedBytes: Int64
    /// The number of new packs.
    public let packs: Int
    /// The number of sockets and devices, which are not saved.
    public let leftOut: Int
    /// The entries that could not be read, or that changed while they were read, for people.
    public let problems: [String]
    /// The files that were read because they are new or changed, with the times; the first thousand.
    public let saved: [SavedName]
    /// Ignore files, and lines of them, that have no effect; the first hundred. What they name is saved.
    public let ignoreProblems: [IgnoreProblem]
}

/// A file that a backup has read and saved.
public struct SavedName: Sendable, Hashable {
    /// The path below the folder of the snapshot, safe to print.
    public let path: String
    /// When it was saved, in nanoseconds since 1970.
    public let time: Int64
}

/// A place from which a backup goes on: what it saved so far, as the root of a part of the tree.
///
/// Files that are as they were then are not read again.
public struct BackupCheckpoint: Sendable, Hashable, Codable {
    var root: [TreeNode.Chunk]
    /// The number of files in it.
    public var files: Int
}
