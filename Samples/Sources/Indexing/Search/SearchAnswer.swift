/// What the index says to a query, and how much it knows.
public struct SearchAnswer: Sendable, Hashable {
    /// The hits, best first.
    public let hits: [SearchHit]
    /// Whether every file that the last scan saw has been read.
    public let isComplete: Bool
    /// Files that are known and not yet read.
    public let pending: Int
}
