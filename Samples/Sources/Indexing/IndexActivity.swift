/// What an index is doing.
public enum IndexActivity: String, Sendable, Hashable, Codable {
    /// Nothing; the last pass came to its end, or none has begun.
    case idle
    /// Walking the folder and comparing it with the index.
    case scanning
    /// Removing what is gone.
    case sweeping
    /// Reading files.
    case indexing
    /// Putting the parts of the full-text index in order.
    case merging
    /// Nothing; the last pass was stopped, or failed, before its end.
    case stopped
    /// Waiting until the cause in `IndexStatus.pause` is gone.
    case paused
}
