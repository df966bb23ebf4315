/// The words of a query, folded, for the marks in snippets.
struct SearchTerms: Sendable, Hashable {
    /// One word.
    struct Term: Sendable, Hashable {
        var folded: [UInt8]
        /// Whether longer words with this beginning match too.
        var isPrefix: Bool
        /// Whether all words that contain it match.
        var isPart = false

        /// Whether a word of this length may match, if it has ASCII only.
        func allows(_ length: Int) -> Bool {
            folded.count == length || ((isPrefix || isPart) && folded.count < length)
        }

        /// Whether a word in ASCII matches, with capitals or without. It makes no copy of the word: a text has thousands.
        func matches(ascii word: ArraySlice<UInt8>) -> Bool {
            guard allows(word.count) else { return false }
            let places = isPart ? word.count - folded.count : 0
            return (word.startIndex...word.startIndex + places).contains { place in
                folded.indices.allSatisfy { TokenScanner.folded(ascii: word[place + $0]) == folded[$0] }
            }
        }

        /// Whether a folded word matches.
        func matches(_ word: [UInt8]) -> Bool {
            if isPart { return word.firstRange(of: folded) != nil }
            return isPrefix ? word.starts(with: folded) : word == folded
        }
    }

    /// The words, at most 64, each once.
    private(set) var terms: [Term] = []

    /// The number of words in the expression, repetitions included.
    private(set) var count = 0
    /// The number of prefixes among them.
    private(set) var prefixCount = 0

    /// Finds the words in an expression of FTS5, without its operators. A word before a star is a prefix.
    ///
    /// - Parameter isParts: Whether words match that contain them.
    init(expression: String, isParts: Bool = false) {
        let bytes = Array(expression.utf8)[...]
        var scanner = TokenScanner(bytes)
        while let token = scanner.next() {
            guard !Self.isSyntax(token, in: bytes) else { continue }
            // A star may follow the word itself or the quote that ends it, and may have spaces before it.
            let rest = bytes[token.range.upperBound...].drop { $0 == UInt8(ascii: "\"") || $0 <= UInt8(ascii: " ") }
            let isPrefix = rest.first == UInt8(ascii: "*")
            count += 1
            if isPrefix { prefixCount += 1 }
            let term = Term(folded: scanner.folded(token), isPrefix: isPrefix, isPart: isParts)
            if terms.count < 64, !terms.contains(term) { terms.append(term) }
        }
    }

    /// Returns the number of the first term that the word matches.
    func match(_ token: TokenScanner.Token, in scanner: TokenScanner) -> Int? {
        if token.isASCII {
            let word = scanner.bytes[token.range]
            return terms.firstIndex { $0.matches(ascii: word) }
        }
        let folded = scanner.folded(token)
        return terms.firstIndex { $0.matches(folded) }
    }

    /// Whether the word is an operator, or the name of a column before a colon.
    private static func isSyntax(_ token: TokenScanner.Token, in bytes: ArraySlice<UInt8>) -> Bool {
        let word = String(decoding: bytes[token.range], as: UTF8.self)
        if ["AND", "OR", "NOT", "NEAR"].contains(word) { return true }
        return bytes[token.range.upperBound...].first == UInt8(ascii: ":") && ["path", "title", "body"].contains(word)
    }
}
