internal import GRDB

/// A query that has hits, for a query that has none.
public struct SearchSuggestion: Sendable, Hashable, Codable {
    /// What makes the difference.
    public enum Kind: String, Sendable, Hashable, Codable {
        /// A word of the index begins with the word of the query.
        case prefix
        /// A word of the index is spelled almost like it.
        case spelling
        /// A word of the index contains it.
        case part
        /// Each word occurs, but not all of them in one file.
        case any
        /// Without the filters there are hits.
        case withoutFilters = "without-filters"
    }

    /// The kind.
    public let kind: Kind
    /// The whole query, to be asked instead.
    public let query: String
}

/// Looks for queries near one without hits. The words come from the index itself (fts5vocab), so each of them exists.
struct Suggesting {
    /// The time for all of it.
    private static let patience = Duration.milliseconds(80)
    /// The number of suggestions.
    private static let limit = 4

    private let query: SearchQuery
    private let database: Database
    private let control: SearchControl
    private let deadline = ContinuousClock.now + Self.patience

    init(_ query: SearchQuery, _ database: Database, _ control: SearchControl) {
        self.query = query
        self.database = database
        self.control = control
    }

    /// Returns the suggestions, the nearest first. None is found after 80 ms.
    ///
    /// - Throws: `SearchError`, errors of the database.
    func suggestions() throws -> [SearchSuggestion] {
        guard query.syntax == .words, let words = query.words else { return [] }
        var found: [SearchSuggestion] = []
        var areAllKnown = true
        for word in words.wanted {
            let term = WordText.folded(Array(word.text.utf8))
            guard try !isKnown(word) else { continue }
            areAllKnown = false
            // Only single words have neighbours.
            guard let text = String(validating: term, as: UTF8.self), !text.isEmpty,
                text.unicodeScalars.allSatisfy({ WordText.part(of: $0) == .letter })
            else { continue }
            for (kind, other) in try neighbours(of: text) {
                var changed = query.text
                changed.replaceSubrange(word.range, with: other)
                found.append(SearchSuggestion(kind: kind, query: changed))
            }
        }
        guard areAllKnown else { return Array(found.prefix(Self.limit)) }
        if !query.filter.choices.isEmpty {
            var changed = query.text
            for range in words.filterRanges.reversed() { changed.removeSubrange(range) }
            changed = changed.split(separator: " ").joined(separator: " ")
            if let other = try? SearchQuery(changed), let expression = other.expression,
                try has(other.excluded.map { "(\(expression)) NOT (\($0))" } ?? expression)
            {
                found.append(SearchSuggestion(kind: .withoutFilters, query: changed))
            }
        } else if words.wanted.count > 1, words.groups.count > 1 {
            let any = words.wanted.map { $0.isPhrase ? QueryWords.quoted($0.text) : $0.text }.joined(separator: " OR ")
            found.append(SearchSuggestion(kind: .any, query: any))
        }
        return found
    }

    /// Whether a word or phrase occurs at all.
    private func isKnown(_ word: QueryWords.Word) throws -> Bool { try has(QueryWords.quoted(word)) }

    private func has(_ expression: String) throws -> Bool {
        try Row.fetchOne(
            database.cachedStatement(sql: "SELECT 1 FROM document WHERE document MATCH ? LIMIT 1"),
            arguments: [expression]) != nil
    }

    /// Returns the best word of each kind.
    private func neighbours(of text: String) throws -> [(SearchSuggestion.Kind, String)] {
        let word = Array(text.unicodeScalars)
        guard let first = word.first, word.count >= 2 else { return [] }
        let slack = word.count < 5 ? 1 : 2
        var best: [SearchSuggestion.Kind: (distance: Int, files: Int, word: String)] = [:]
        func look(at term: String, files: Int) {
            let other = Array(term.unicodeScalars)
            // A stem is no word.
            if let last = other.last, StemLanguage.allCases.contains(where: { $0.mark.unicodeScalars.first == last }) {
                return
            }
            let kind: SearchSuggestion.Kind
            var distance = 0
            if term.hasPrefix(text) {
                (kind, distance) = (.prefix, 0)
            } else if let near = Self.distance(word, other, atMost: slack) {
                (kind, distance) = (.spelling, near)
            } else if word.count >= 3, term.contains(text) {
                (kind, distance) = (.part, 0)
            } else {
                return
            }
            if let old = best[kind], (old.distance, -old.files) <= (distance, -files) { return }
            best[kind] = (distance, files, term)
        }
        // Words with the same first letter first: the others are many.
        let next = Unicode.Scalar(first.value + 1).map { String($0) } ?? "\u{10FFFF}"
        for (condition, arguments) in [
            ("term >= ? AND term < ?", [String(first), next]), ("term < ?", [String(first)]), ("term >= ?", [next]),
        ] {
            let rows = try Row.fetchCursor(
                database.cachedStatement(sql: "SELECT term, doc FROM word WHERE \(condition)"),
                arguments: StatementArguments(arguments))
            var count = 0
            while let row = try rows.next() {
                count += 1
                if count % 64 == 0 {
                    try control.check()
                    guard ContinuousClock.now < deadline else { break }
                }
                look(at: row[0], files: row[1])
            }
        }
        return [SearchSuggestion.Kind.spelling, .prefix, .part].compactMap { kind in best[kind].map { (kind, $0.word) }
        }
    }

    /// Returns the number of letters that are missing, surplus, wrong or swapped with their neighbour; nil above a limit.
    static func distance(_ left: [Unicode.Scalar], _ right: [Unicode.Scalar], atMost limit: Int) -> Int? {
        guard abs(left.count - right.count) <= limit else { return nil }
        var before: [Int] = []
        var last = Array(0...right.count)
        for (row, letter) in left.enumerated() {
            var line = [row + 1]
            for (column, other) in right.enumerated() {
                var cost = min(last[column + 1] + 1, line[column] + 1, last[column] + (letter == other ? 0 : 1))
                if row > 0, column > 0, letter == right[column - 1], left[row - 1] == other {
                    cost = min(cost, before[column - 1] + 1)
                }
                line.append(cost)
            }
            guard line.contains(where: { $0 <= limit }) else { return nil }
            (before, last) = (last, line)
        }
        return last[right.count] <= limit ? last[right.count] : nil
    }
}
