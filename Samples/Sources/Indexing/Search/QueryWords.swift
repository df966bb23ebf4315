internal import Foundation

/// The language of plain words, as people type it.
///
/// | text | meaning |
/// |---|---|
/// | `quick brown` | both words; the last one may be the beginning of a word |
/// | `"quick brown"` | the words in this order |
/// | `quick*` | words with this beginning |
/// | `quick OR slow` | one of them; `OR` binds closer than the space, as in recoll |
/// | `-brown`, `NOT brown` | not this word; also before a phrase or a filter |
/// | `path:"my docs"`, `ext:md,txt`, `modified:2026-01` | filters of files (``SearchFilter``) |
///
/// Everything else is a word: `C++`, `a.b`, `std::string`, a lone minus, an open quote. So a text that was typed half
/// is a query, too. Only what looks like a filter, or like a choice, and is none, is an error.
struct QueryWords: Sendable, Hashable {
    /// A word or a phrase.
    struct Word: Sendable, Hashable {
        /// The text, without quotes.
        var text: String
        var isPrefix: Bool
        var isExcluded: Bool
        var isPhrase: Bool
        /// Its place in the query, without a sign before it.
        var range: Range<String.Index>

        /// The word in the form of the index, if it is one word. Who writes quotes wants this very form.
        var single: [UInt8]? {
            guard !isPhrase else { return nil }
            let term = WordText.folded(Array(text.utf8))
            let isOne = String(validating: term, as: UTF8.self)?.unicodeScalars.allSatisfy {
                WordText.part(of: $0) == .letter
            }
            return isOne == true && !term.isEmpty ? term : nil
        }
    }

    /// Words of which one must occur; a single one that is excluded must not occur.
    private(set) var groups: [[Word]] = []
    /// The filters.
    private(set) var filter = SearchFilter()
    /// The filters as they were written.
    private(set) var filterRanges: [Range<String.Index>] = []

    /// A word, a phrase or a filter, as it is read.
    private struct Item {
        enum Value {
            case word(Word)
            case filter([SearchFilter.Test])
        }

        var value: Value
        var isExcluded: Bool
        var range: Range<String.Index>
        /// Whether it is the bare word `AND`, `OR` or `NOT`.
        var sign: String?
    }

    /// Reads a query.
    ///
    /// - Parameters:
    ///   - now: The time that `modified:7d` counts from, in nanoseconds since 1970.
    ///   - zone: The time zone of the days.
    ///   - onlyFilters: Whether all but the filters are words as they are, quotes and signs included.
    /// - Throws: `SearchError.badFilter`, `SearchError.badChoice`.
    init(
        _ text: String, now: Int64 = IndexSettings.systemTime(), zone: TimeZone = .current, onlyFilters: Bool = false
    ) throws(SearchError) {
        var items = try Self.items(text, now: now, zone: zone, onlyFilters: onlyFilters)
        if !onlyFilters { Self.openLast(&items) }
        var index = 0
        while index < items.count {
            var choice: [Item] = []
            while index < items.count {
                var item = items[index]
                // An operator stands between two others, `NOT` before one.
                if item.sign == "NOT", index + 1 < items.count {
                    index += 1
                    item = items[index]
                    item.isExcluded = true
                } else if item.sign == "AND", !choice.isEmpty || index > 0, index + 1 < items.count {
                    index += 1
                    continue
                }
                choice.append(item)
                index += 1
                guard index + 1 < items.count, items[index].sign == "OR" else { break }
                index += 1
            }
            try add(choice, text)
        }
    }

    /// Makes the last word a prefix: its end may not be typed yet.
    private static func openLast(_ items: inout [Item]) {
        let last = items.lastIndex { item in
            if case .word(let word) = item.value {
                word.text.unicodeScalars.contains(where: \.isWordCharacter)
            } else {
                false
            }
        }
        guard let last, case .word(var word) = items[last].value, !word.isPhrase, !items[last].isExcluded,
            last == 0 || items[last - 1].sign != "NOT", !endsWithUnit(word.text)
        else { return }
        word.isPrefix = true
        items[last].value = .word(word)
    }

    private mutating func add(_ choice: [Item], _ text: String) throws(SearchError) {
        let excluded = choice.count { $0.isExcluded }
        if choice.count > 1, excluded > 0 {
            throw .badChoice("OR stands beside an excluded word")
        }
        var words: [Word] = []
        var tests: [SearchFilter.Test] = []
        for item in choice {
            switch item.value {
            case .word(var word):
                word.isExcluded = item.isExcluded
                // A word without a letter or digit would make the whole query empty.
                if word.text.unicodeScalars.contains(where: \.isWordCharacter) { words.append(word) }
            case .filter(let more):
                tests += more
                filterRanges.append(item.range)
            }
        }
        if !words.isEmpty, !tests.isEmpty { throw .badChoice("OR stands between a word and a filter") }
        if !tests.isEmpty { filter.add(SearchFilter.Choice(tests: tests, isExcluded: excluded > 0)) }
        if !words.isEmpty { groups.append(words) }
    }

    // MARK: The expression

    /// The words that must occur, in the language of FTS5; nil if there are none.
    var expression: String? { expression(stemming: []) }

    /// The same, with the other forms of words that stand alone: those with a stem in common.
    func expression(stemming languages: [StemLanguage]) -> String? {
        var seen = Set<String>()
        let wanted = groups.filter { $0.allSatisfy { !$0.isExcluded } }.map { group in
            let choices = group.flatMap { Self.forms($0, languages) }
            return choices.count == 1 ? choices[0] : "(" + choices.joined(separator: " OR ") + ")"
        }
        // The last one of equal words stays: it may be a prefix.
        let once = wanted.reversed().filter { seen.insert($0.hasSuffix("*") ? String($0.dropLast()) : $0).inserted }
        return once.isEmpty ? nil : once.reversed().joined(separator: " AND ")
    }

    /// Returns a word and its stems in the language of FTS5. A text in quotes means these words.
    private static func forms(_ word: Word, _ languages: [StemLanguage]) -> [String] {
        guard !languages.isEmpty, let term = word.single else { return [quoted(word)] }
        var forms = [quoted(word)]
        for stem in SharedStemmers.stems(of: term, languages) {
            // A text has the word that is a stem, and the stem of a word that is another one.
            for form in [stem.dropLast(3), stem[...]] {
                let text = quoted(String(decoding: form, as: UTF8.self))
                if !forms.contains(text) { forms.append(text) }
            }
        }
        return forms
    }

    /// The words that must not occur, in the language of FTS5; nil if there are none.
    var excludedExpression: String? { excludedExpression(stemming: []) }

    /// The same, with the other forms of words.
    func excludedExpression(stemming languages: [StemLanguage]) -> String? {
        let excluded = groups.flatMap { $0 }.filter(\.isExcluded).flatMap { Self.forms($0, languages) }
        return excluded.isEmpty ? nil : excluded.joined(separator: " OR ")
    }

    /// The words that must occur.
    var wanted: [Word] { groups.flatMap { $0 }.filter { !$0.isExcluded } }

    /// Returns a word in the language of FTS5.
    static func quoted(_ word: Word) -> String { quoted(word.text) + (word.isPrefix ? "*" : "") }

    /// Returns a text in quotes, by scalars: a quote with a mark behind it is a quote.
    static func quoted(_ text: String) -> String {
        "\"" + text.unicodeScalars.map { $0 == "\"" ? "\"\"" : String($0) }.joined() + "\""
    }

    // MARK: Reading

    /// Splits a text. By scalars: as a character, a quote or a space with a mark after it is neither quote nor space.
    private static func items(
        _ text: String, now: Int64, zone: TimeZone, onlyFilters: Bool
    ) throws(SearchError) -> [Item] {
        let scalars = text.unicodeScalars
        var items: [Item] = []
        var place = scalars.startIndex
        while let start = scalars[place...].firstIndex(where: { !$0.properties.isWhitespace }) {
            place = start
            var isExcluded = false
            if scalars[place] == "-", !onlyFilters {
                // Several are no sign, but a way to write options of commands.
                let next = scalars.index(after: place)
                isExcluded = next < scalars.endIndex && scalars[next] != "-" && !scalars[next].properties.isWhitespace
                if isExcluded { place = next }
            }
            let begin = place
            if scalars[place] == "\"", !onlyFilters {
                let (inner, end) = quotation(scalars, at: place)
                place = end
                var isPrefix = false
                if place < scalars.endIndex, scalars[place] == "*" {
                    isPrefix = true
                    place = scalars.index(after: place)
                }
                let word = Word(
                    text: inner, isPrefix: isPrefix, isExcluded: isExcluded, isPhrase: true, range: begin..<place)
                items.append(Item(value: .word(word), isExcluded: isExcluded, range: begin..<place))
                continue
            }
            let end = scalars[place...].firstIndex { $0.properties.isWhitespace } ?? scalars.endIndex
            let piece = scalars[place..<end]
            if let colon = piece.firstIndex(of: ":"),
                let name = SearchFilter.names.first(where: { $0 == String(piece[..<colon]).lowercased() })
            {
                let behind = scalars.index(after: colon)
                var value = String(scalars[behind..<end])
                place = end
                if behind < end, scalars[behind] == "\"" { (value, place) = quotation(scalars, at: behind) }
                let tests = try SearchFilter.tests(name, value, now: now, zone: zone)
                items.append(Item(value: .filter(tests), isExcluded: isExcluded, range: begin..<place))
                continue
            }
            place = end
            var string = String(piece)
            let sign = !onlyFilters && !isExcluded && ["AND", "OR", "NOT"].contains(string) ? string : nil
            var isPrefix = false
            if string.unicodeScalars.last == "*", !onlyFilters {
                isPrefix = true
                string.unicodeScalars.removeLast()
            }
            let word = Word(
                text: string, isPrefix: isPrefix, isExcluded: isExcluded, isPhrase: false, range: begin..<end)
            items.append(Item(value: .word(word), isExcluded: isExcluded, range: begin..<end, sign: sign))
        }
        return items
    }

    /// Returns the text behind a quote, and the place behind the next one. An open quote ends with the text.
    private static func quotation(
        _ scalars: String.UnicodeScalarView, at quote: String.Index
    ) -> (String, end: String.Index) {
        let start = scalars.index(after: quote)
        let end = scalars[start...].firstIndex(of: "\"") ?? scalars.endIndex
        return (String(scalars[start..<end]), end < scalars.endIndex ? scalars.index(after: end) : end)
    }

    /// Whether the last character is a word of its own, so that no longer word begins with it.
    private static func endsWithUnit(_ text: String) -> Bool {
        text.unicodeScalars.last { WordText.part(of: $0) == .letter || WordText.part(of: $0) == .unit }.map {
            WordText.isUnit($0.value)
        } ?? false
    }
}
