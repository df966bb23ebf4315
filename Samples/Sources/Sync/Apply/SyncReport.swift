/// What a sync did.
public struct SyncReport: Sendable, Codable, Hashable {
    /// The number of names that were in step.
    public var unchanged = 0
    /// The number of files, links and pipes that were written.
    public var copied = 0
    /// The bytes of their contents.
    public var bytes: Int64 = 0
    /// The bytes of them that came from an old version on the same side.
    public var reusedBytes: Int64 = 0
    /// The bytes that an interrupted run had written already.
    public var resumedBytes: Int64 = 0
    /// The number of folders that were made.
    public var folders = 0
    /// The number of files that were renamed, as on the other side.
    public var renamed = 0
    /// The number of entries that were removed.
    public var removed = 0
    /// The number of entries whose metadata was set.
    public var described = 0
    /// The number of names that became names of a file that has another one, as on the other side; nil for none.
    public var linked: Int?
    /// The number of entries that were taken and kept, if there is a place for them.
    public var kept: Int?
    /// The number of new entries that lack extended attributes of the other side, as its file system, or the rights of
    /// this user, do not allow them.
    public var incomplete: Int?
    /// The conflicts, each with what happened, for people.
    public var conflicts: [String] = []
    /// The entries that stay as they are, each with its reason, for people.
    public var skipped: [String] = []
    /// The names that the run changed, in the order of the changes; the first thousand.
    public var changes: [SyncChange]?
    /// Effects of the run that a person may not expect, each with the name, for people; nil for none.
    public var notes: [String]?

    /// Whether both sides are in step now.
    public var isInStep: Bool { conflicts.isEmpty && skipped.isEmpty }
}
