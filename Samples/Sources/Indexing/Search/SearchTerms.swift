/// The words and phrases of a query, folded, for the marks in snippets.
struct SearchTerms: Sendable, Hashable {
    /// A word, or several in a row.
    struct Term: Sendable, Hashable {
        /// The words. The tokenizer makes several of `snake_case`, of words in quotes, and of scripts without spaces.
        var words: [[UInt8]]
        /// Whether longer words with the beginning of the last one match too.
        var isPrefix: Bool
        /// Whether all words that contain it match.
        var isPart = false
        /// Whether each word is a character of a script without spaces.
        var isUnits = false
        /// The stems of the word, with the marks of their languages; none if only this form matches.
        var stems: [[UInt8]] = []
        /// The languages of the stems.
        var languages: [StemLanguage] = []

        /// Whether a word of a text has a stem in common with the term.
        private func hasStem(_ token: TokenScanner.Token, in scanner: TokenScanner) -> Bool {
            guard let first = stems.first, let begin = scanner.bytes[token.range].first else { return false }
            // A text has thousands of words, and only few begin as the stem does. An accent may have gone.
            guard begin >= 0x80 || TokenScanner.folded(ascii: begin) == first.first else { return false }
            let other = SharedStemmers.stems(of: scanner.folded(token), languages)
            return other.contains { stems.contains($0) }
        }

        /// Whether a word of a text matches one of the term's.
        fileprivate func matches(_ token: TokenScanner.Token, in scanner: TokenScanner, word number: Int) -> Bool {
            if !stems.isEmpty, hasStem(token, in: scanner) { return true }
            let word = words[number]
            let isPrefix = isPrefix && number == words.count - 1
            guard token.isASCII else {
                let other = scanner.folded(token)
                if isPart { return other.firstRange(of: word) != nil }
                return isPrefix ? other.starts(with: word) : word == other
            }
            // It makes no copy of the word: a text has thousands.
            let other = scanner.bytes[token.range]
            guard other.count == word.count || ((isPrefix || isPart) && other.count > word.count) else { return false }
            let places = isPart ? other.count - word.count : 0
            return (other.startIndex...other.startIndex + places).contains { place in
                word.indices.allSatisfy { TokenScanner.folded(ascii: other[place + $0]) == word[$0] }
            }
        }
    }

    /// The words and phrases, at most 64, each once.
    private(set) var terms: [Term] = []

    /// The number of words in the expression, repetitions included. Characters in a row of a script without spaces count
    /// as one.
    private(set) var count = 0
    /// The number of repeated words.
    private(set) var repetitions = 0
    /// The number of prefixes.
    private(set) var prefixCount = 0

    /// Finds the words in an expression of FTS5, without its operators. Words in quotes are one term. A word before a
    /// star is a prefix.
    ///
    /// - Parameter isParts: Whether words match that contain them.
    init(expression: String, isParts: Bool = false) {
        let bytes = Array(expression.utf8)[...]
        var scanner = TokenScanner(bytes)
        var seen = Set<[UInt8]>()
        var last: (end: Int, isUnit: Bool)?
        while let token = scanner.next() {
            let gap = bytes[(last?.end ?? bytes.startIndex)..<token.range.lowerBound]
            // An even number of quotes between two words: both are in the same string, or both in none.
            let isQuoted = bytes[..<token.range.lowerBound].count { $0 == UInt8(ascii: "\"") } % 2 == 1
            guard isQuoted || !Self.isSyntax(token, in: bytes) else { continue }
            let joins = last != nil && (gap.isEmpty || (isQuoted && !gap.contains(UInt8(ascii: "\""))))
            if !(joins && token.isUnit && last?.isUnit == true) { count += 1 }
            last = (token.range.upperBound, token.isUnit)
            // A star may follow the word itself or the quote that ends it, and may have spaces before it.
            let rest = bytes[token.range.upperBound...].drop { $0 == UInt8(ascii: "\"") || $0 <= UInt8(ascii: " ") }
            let isPrefix = rest.first == UInt8(ascii: "*")
            if isPrefix { prefixCount += 1 }
            let word = scanner.folded(token)
            if !seen.insert(word).inserted { repetitions += 1 }
            if joins, !isParts, !terms.isEmpty {
                terms[terms.count - 1].words.append(word)
                terms[terms.count - 1].isPrefix = isPrefix
                if !token.isUnit { terms[terms.count - 1].isUnits = false }
            } else if terms.count < 64 {
                terms.append(Term(words: [word], isPrefix: isPrefix, isPart: isParts, isUnits: token.isUnit))
            }
        }
        var once = Set<Term>()
        terms.removeAll { !once.insert($0).inserted }
    }

    /// Lets the other forms of single words match, too.
    mutating func addStems(_ words: [[UInt8]], _ languages: [StemLanguage]) {
        for index in terms.indices where terms[index].words.count == 1 && words.contains(terms[index].words[0]) {
            terms[index].stems = SharedStemmers.stems(of: terms[index].words[0], languages)
            terms[index].languages = languages
        }
    }

    /// Returns the number of the first term that matches at a word, with the places of its words.
    func match(_ token: TokenScanner.Token, in scanner: TokenScanner) -> (term: Int, places: [Range<Int>])? {
        for (number, term) in terms.enumerated() where term.matches(token, in: scanner, word: 0) {
            var places = [token.range]
            var rest = scanner
            for word in term.words.indices.dropFirst() {
                guard let next = rest.next(), term.matches(next, in: rest, word: word) else { break }
                if term.isUnits, places[places.count - 1].upperBound == next.range.lowerBound {
                    places[places.count - 1] = places[places.count - 1].lowerBound..<next.range.upperBound
                } else {
                    places.append(next.range)
                }
                if word == term.words.count - 1 { return (number, places) }
            }
            if term.words.count == 1 { return (number, places) }
        }
        return nil
    }

    /// Whether the word is an operator, or the name of a column before a colon.
    private static func isSyntax(_ token: TokenScanner.Token, in bytes: ArraySlice<UInt8>) -> Bool {
        let word = String(decoding: bytes[token.range], as: UTF8.self)
        if ["AND", "OR", "NOT", "NEAR"].contains(word) { return true }
        return bytes[token.range.upperBound...].first == UInt8(ascii: ":") && ["path", "title", "body"].contains(word)
    }
}
