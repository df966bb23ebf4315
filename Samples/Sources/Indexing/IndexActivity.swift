/// What an index is doing.
public enum IndexActivity: String, Sendable, Hashable, Codable {
    /// Nothing; the last pass is over, or none has begun.
    case idle
    /// Walking the folder and comparing it with the index.
    case scanning
    /// Removing what is gone.
    case sweeping
    /// Reading files.
    case indexing
    /// Putting the parts of the full-text index in order.
    case merging
    /// Waiting until the cause in `IndexStatus.pause` is gone.
    case paused
}
