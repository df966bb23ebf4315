/// A point of a run at which a test may end the process. In the order in which a run comes to them.
public enum SyncStep: String, Sendable, CaseIterable {
    /// What an earlier run left was put in order.
    case recovered
    /// Both sides were looked at.
    case scanned
    /// The plan is made.
    case planned
    /// A version of a conflict has its own name.
    case movedAside
    /// A folder was made. It does not have its metadata yet.
    case madeFolder
    /// An entry was renamed, as on the other side.
    case renamed
    /// A part of a large file is on the disk.
    case partWritten
    /// A temporary file has its content.
    case copied
    /// A temporary name is one of a file that is there.
    case linked
    /// The temporary files are on the disk.
    case synchronized
    /// The journal says what follows.
    case intended
    /// A temporary file has the name, and the old file has the temporary name.
    case exchanged
    /// The old file is gone.
    case replaced
    /// The archive knows the new files.
    case recorded
    /// An entry that is going to be removed has a temporary name.
    case unnamed
    /// The entry is gone.
    case deleted
    /// An entry has new metadata.
    case described
    /// All folders have their metadata.
    case finishedFolders
}
