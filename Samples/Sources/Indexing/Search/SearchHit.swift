/// One file that matches a query.
public struct SearchHit: Sendable, Hashable, Codable {
    /// Marks the beginning of a matching word in a snippet.
    public static let markStart = "\u{27E6}"
    /// Marks the end of a matching word in a snippet.
    public static let markEnd = "\u{27E7}"

    /// The path below the indexed folder.
    public let path: String
    /// How well it matches; more is better, comparable within one answer only (bm25, negated).
    public let score: Double
    /// Some words around the matches, which stand between `markStart` and `markEnd`.
    public let snippet: String
}
