/// The current activity of an index.
public enum IndexActivity: String, Sendable, Hashable, Codable {
    /// None. The last pass came to its end, or none has begun.
    case idle
    /// Walking the folder and comparing it with the index.
    case scanning
    /// Removing files that no longer exist.
    case sweeping
    /// Reading files.
    case indexing
    /// Putting the parts of the full-text index in order.
    case merging
    /// None. The last pass was stopped, or failed, before its end.
    case stopped
    /// Waiting until the cause in `IndexStatus.pause` is gone.
    case paused
}
