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

    /// The order of the hits.
    public let order: SearchOrder
    /// The files that count: those of the words `path:`, `ext:` and `modified:`. In the language of FTS5 there are none.
    public var filter: SearchFilter

    /// The words that must occur, in the language of FTS5; nil for none.
    private(set) var expression: String?
    /// The words that must not occur, in the language of FTS5; nil for none.
    private(set) var excluded: String?
    /// The words of the query; nil in the language of FTS5.
    let words: QueryWords?
    /// The words that must occur, which snippets mark.
    private(set) var terms: SearchTerms

    /// Whether the query has no word that must occur, so that it lists files.
    public var isFilterAlone: Bool { expression == nil }

    /// Whether the search is likely to take long: it has several prefixes, or many words.
    public var isExpensive: Bool {
        terms.prefixCount > 1 || terms.count > 8
    }

    /// Whether the hits are ordered by the quality of the match. False for a single prefix of one or two letters, and
    /// for filters alone.
    public var isRanked: Bool {
        guard order == .relevance, expression != nil else { return false }
        guard syntax != .substrings, terms.terms.count == 1, let term = terms.terms.first, term.isPrefix,
            term.words.count == 1, !term.isUnits
        else { return true }
        return String(decoding: term.words[0], as: UTF8.self).unicodeScalars.count > 2
    }

    /// Makes a query; by default plain words (``QueryWords``), the first twenty hits, the best first.
    ///
    /// - Throws: `SearchError` when there is neither a word nor a filter, or a value is out of range.
    public init(
        _ text: String,
        syntax: SearchSyntax = .words,
        limit: Int = 20,
        offset: Int = 0,
        order: SearchOrder = .relevance
    ) throws(SearchError) {
        guard text.utf8.count <= Self.textLimit else { throw .tooLong(limit: Self.textLimit) }
        guard Self.limits.contains(limit) else {
            throw .outOfRange(parameter: "limit", value: limit, range: Self.limits)
        }
        guard Self.offsets.contains(offset) else {
            throw .outOfRange(parameter: "offset", value: offset, range: Self.offsets)
        }
        // A zero would end the text early in the database.
        let cleaned = String(String.UnicodeScalarView(text.unicodeScalars.map { $0 == "\0" ? " " : $0 }))
        words = syntax == .fts ? nil : try QueryWords(cleaned, onlyFilters: syntax == .substrings)
        filter = words?.filter ?? SearchFilter()
        switch syntax {
        case .words: (expression, excluded) = (words?.expression, words?.excludedExpression)
        case .fts: (expression, excluded) = (cleaned.contains { !$0.isWhitespace } ? cleaned : nil, nil)
        case .substrings: (expression, excluded) = (try Self.parts(words?.wanted.map(\.text) ?? []), nil)
        }
        guard expression != nil || excluded != nil || !filter.isEmpty else { throw .noWords }
        terms = SearchTerms(expression: expression ?? "", isParts: syntax == .substrings)
        let others = SearchTerms(expression: excluded ?? "")
        guard terms.count + others.count <= Self.wordLimit else { throw .tooManyWords(limit: Self.wordLimit) }
        guard terms.prefixCount + others.prefixCount <= Self.prefixLimit else {
            throw .tooManyPrefixes(limit: Self.prefixLimit)
        }
        if syntax == .fts, terms.repetitions > Self.repetitionLimit {
            throw .tooManyRepetitions(limit: Self.repetitionLimit)
        }
        self.text = text
        self.syntax = syntax
        self.limit = limit
        self.offset = offset
        self.order = order
    }

    /// The query for an index that finds the forms of words together.
    func stemmed(_ languages: [StemLanguage]) -> SearchQuery {
        guard syntax == .words, !languages.isEmpty, let words else { return self }
        var query = self
        query.expression = words.expression(stemming: languages)
        query.excluded = words.excludedExpression(stemming: languages)
        query.terms.addStems(words.wanted.compactMap(\.single), languages)
        return query
    }

    /// Puts each text in quotes, joined by `AND`; nil when there is none.
    private static func parts(_ parts: [String]) throws(SearchError) -> String? {
        // The tokenizer has no token for less.
        if let short = parts.first(where: { $0.unicodeScalars.count < 3 }) { throw .tooShort(short) }
        guard parts.count <= wordLimit else { throw .tooManyWords(limit: wordLimit) }
        return parts.isEmpty ? nil : parts.map { QueryWords.quoted($0) }.joined(separator: " AND ")
    }
}

/// The order of hits.
public enum SearchOrder: String, Sendable, CaseIterable, Codable {
    /// The best match first. Filters alone have no quality: the last change comes first.
    case relevance
    /// The last change first.
    case modified
}
