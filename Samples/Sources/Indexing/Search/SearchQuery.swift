/// A query that has been checked as far as that is possible without the index.
public struct SearchQuery: Sendable, Hashable {
    /// Bytes that a query may have.
    public static let textLimit = 1024
    /// Hits that can be asked for at once.
    public static let limits = 1...1000
    /// Hits that can be passed over.
    public static let offsets = 0...1_000_000

    /// The text as the user wrote it.
    public let text: String
    /// How it is read.
    public let syntax: SearchSyntax
    /// Hits to return at most.
    public let limit: Int
    /// Hits to pass over.
    public let offset: Int

    /// The query in the language of FTS5.
    let expression: String
    /// Its words, which snippets mark.
    let terms: SearchTerms

    /// A query; by default plain words, the first twenty hits.
    ///
    /// - Throws: `SearchError` when there is no word, or a value is out of range.
    public init(
        _ text: String,
        syntax: SearchSyntax = .words,
        limit: Int = 20,
        offset: Int = 0
    ) throws(SearchError) {
        guard text.utf8.count <= Self.textLimit else { throw .tooLong(limit: Self.textLimit) }
        guard Self.limits.contains(limit) else {
            throw .outOfRange(parameter: "limit", value: limit, range: Self.limits)
        }
        guard Self.offsets.contains(offset) else {
            throw .outOfRange(parameter: "offset", value: offset, range: Self.offsets)
        }
        // A zero would end the text early in the database.
        let cleaned = text.replacing("\0", with: " ")
        switch syntax {
        case .words: expression = Self.conjunction(of: cleaned)
        case .fts: expression = cleaned
        }
        guard expression.contains(where: { !$0.isWhitespace }) else { throw .noWords }
        terms = SearchTerms(expression: expression)
        self.text = text
        self.syntax = syntax
        self.limit = limit
        self.offset = offset
    }

    /// Each word in quotes, joined by `AND`, the last one as a prefix; empty when there is none.
    ///
    /// A word of several tokens (`snake_case`, `a.b`) is a phrase. A word without any would make the whole
    /// conjunction empty, so it is dropped.
    private static func conjunction(of text: String) -> String {
        let words = text.split(whereSeparator: \.isWhitespace).filter {
            $0.unicodeScalars.contains(where: \.isWordCharacter)
        }
        guard !words.isEmpty else { return "" }
        return words.map { "\"" + $0.replacing("\"", with: "\"\"") + "\"" }.joined(separator: " AND ") + "*"
    }
}
