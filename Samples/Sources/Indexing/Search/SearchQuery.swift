/// A query that was checked as far as possible without the index.
public struct SearchQuery: Sendable, Hashable {
    /// The maximum number of bytes of a query.
    public static let textLimit = 1024
    /// The maximum number of words of a query.
    public static let wordLimit = 32
    /// The maximum number of prefixes (`word*`) of a query. Each one reads the lists of all words that begin with it.
    public static let prefixLimit = 4
    /// The maximum number of repeated words of a query in the language of FTS5.
    ///
    /// For each repetition FTS5 counts all places of the word in a text once more.
    public static let repetitionLimit = 4
    /// The range of hits to ask for at once.
    public static let limits = 1...1000
    /// The range of hits to pass over.
    public static let offsets = 0...1_000_000

    /// The text as the user wrote it.
    public let text: String
    /// The language of the query.
    public let syntax: SearchSyntax
    /// The maximum number of hits to return.
    public let limit: Int
    /// The number of hits to pass over.
    public let offset: Int

    /// Whether the search is likely to take long: it has several prefixes, or many words.
    public var isExpensive: Bool {
        terms.prefixCount > 1 || terms.count > 8
    }

    /// Whether the hits are ordered by the quality of the match. False for a single prefix of one or two letters.
    public var isRanked: Bool {
        guard syntax != .substrings, terms.count == 1, let term = terms.terms.first, term.isPrefix else { return true }
        return String(decoding: term.folded, as: UTF8.self).unicodeScalars.count > 2
    }

    /// The files that count: those of the words `path:`, `ext:` and `modified:`. In the language of FTS5 there are none.
    public let filter: SearchFilter

    /// The query in the language of FTS5.
    let expression: String
    /// Its words, which snippets mark.
    let terms: SearchTerms

    /// Makes a query; by default plain words, the first twenty hits.
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
        let all = String(String.UnicodeScalarView(text.unicodeScalars.map { $0 == "\0" ? " " : $0 }))
        let cleaned: String
        (filter, cleaned) = syntax != .fts ? try SearchFilter.take(from: all) : (SearchFilter(), all)
        switch syntax {
        case .words: expression = Self.conjunction(of: cleaned)
        case .fts: expression = cleaned
        case .substrings: expression = try Self.parts(of: cleaned)
        }
        guard expression.contains(where: { !$0.isWhitespace }) else { throw .noWords }
        terms = SearchTerms(expression: expression, isParts: syntax == .substrings)
        guard terms.count <= Self.wordLimit else { throw .tooManyWords(limit: Self.wordLimit) }
        guard terms.prefixCount <= Self.prefixLimit else { throw .tooManyPrefixes(limit: Self.prefixLimit) }
        if syntax == .fts, terms.count - terms.terms.count > Self.repetitionLimit {
            throw .tooManyRepetitions(limit: Self.repetitionLimit)
        }
        self.text = text
        self.syntax = syntax
        self.limit = limit
        self.offset = offset
    }

    /// Puts each word in quotes, once, joined by `AND`, the last one as a prefix. Empty when there is none.
    ///
    /// A word of several tokens (`snake_case`, `a.b`) is a phrase. A word without tokens would make the whole
    /// conjunction empty, so it is dropped.
    private static func conjunction(of text: String) -> String {
        // By scalars: as a character, a quote or a space with a combining mark after it is neither quote nor space.
        let words = text.unicodeScalars.split(whereSeparator: \.properties.isWhitespace)
            .filter { $0.contains(where: \.isWordCharacter) }
        guard let last = words.last else { return "" }
        var seen = Set([String(last)])
        let once = words.dropLast().filter { seen.insert(String($0)).inserted } + [last]
        return once.map(quoted).joined(separator: " AND ") + "*"
    }

    /// Puts each text between spaces in quotes, joined by `AND`. Empty when there is none.
    private static func parts(of text: String) throws(SearchError) -> String {
        let parts = text.unicodeScalars.split(whereSeparator: \.properties.isWhitespace)
        // The tokenizer has no token for less.
        if let short = parts.first(where: { $0.count < 3 }) { throw .tooShort(String(short)) }
        guard parts.count <= wordLimit else { throw .tooManyWords(limit: wordLimit) }
        return parts.map(quoted).joined(separator: " AND ")
    }

    private static func quoted(_ word: Substring.UnicodeScalarView) -> String {
        let doubled = word.flatMap { $0 == "\"" ? ["\"", "\""] : [$0] }
        return "\"" + String(String.UnicodeScalarView(doubled)) + "\""
    }
}
