/// The index's answer to a query, and how complete it is.
public struct SearchAnswer: Sendable, Hashable {
    /// The hits, best first if they are ranked.
    public let hits: [SearchHit]
    /// The number of files that match, at most `SearchIndex.totalLimit`.
    public let total: Int
    /// Whether no more than `total` files match.
    public let isTotalExact: Bool
    /// Whether the hits are ordered by the quality of the match.
    public let isRanked: Bool
    /// Whether the answer covers the whole text of every file in the folder, as of the last scan.
    public let isComplete: Bool
    /// Known files that are not read yet.
    public let pending: Int
    /// Queries that have hits, if this one has none.
    public let suggestions: [SearchSuggestion]
}
