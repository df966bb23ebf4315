/// The language of a query.
public enum SearchSyntax: String, Sendable, CaseIterable, Codable {
    /// Plain words, all of which must occur. The last one may be the beginning of a word.
    case words
    /// The query language of FTS5, as it is: phrases, `AND`, `OR`, `NOT`, `NEAR`, `column:`, `prefix*`.
    case fts
    /// Texts of at least three characters, divided by spaces, all of which must occur, also within words. Only an index
    /// that was made with substrings answers.
    case substrings
}
