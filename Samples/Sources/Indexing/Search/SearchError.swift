/// The reason for a search without an answer.
public enum SearchError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The query has no letter and no digit.
    case noWords
    /// The query is longer than the limit, in bytes.
    case tooLong(limit: Int)
    /// A substring has fewer characters than an index of substrings can find.
    case tooShort(String)
    /// The index was made without substrings.
    case noSubstrings
    /// A parameter is out of range.
    case outOfRange(parameter: String, value: Int, range: ClosedRange<Int>)
    /// The query has more words than the limit.
    case tooManyWords(limit: Int)
    /// The query has more prefixes (`word*`) than the limit.
    case tooManyPrefixes(limit: Int)
    /// The query has the same word more often than the limit allows.
    case tooManyRepetitions(limit: Int)
    /// A filter of the query has no value, or one that is none; with what is wrong.
    case badFilter(String, String)
    /// `OR` stands between two that it cannot join; with what is wrong.
    case badChoice(String)
    /// The query breaks the rules of the FTS5 language.
    case syntax(query: String, detail: String)
    /// The search took longer than its time limit.
    case timedOut
    /// The search was cancelled.
    case cancelled
    /// The index cannot answer.
    case unavailable(String)

    /// Whether the query, not the index, is at fault.
    public var isUserError: Bool {
        switch self {
        case .noWords, .tooLong, .tooShort, .noSubstrings, .outOfRange, .tooManyWords, .tooManyPrefixes,
            .tooManyRepetitions, .badFilter, .badChoice, .syntax:
            true
        case .timedOut, .cancelled, .unavailable: false
        }
    }

    /// The failure and its remedy.
    public var description: String {
        switch self {
        case .noWords:
            "The query has no word. Write at least one letter or digit."
        case .tooLong(let limit):
            "The query is longer than \(limit) bytes. Shorten it."
        case .tooShort(let text):
            "\"\(text)\" is too short. Write at least three characters of each substring, or use the syntax words."
        case .noSubstrings:
            "The index was made without substrings. Use the syntax words, or remove the index and make it again with "
                + "--substrings."
        case .outOfRange(let parameter, let value, let range):
            "\(parameter) is \(value). Choose a value from \(range.lowerBound) to \(range.upperBound)."
        case .tooManyWords(let limit):
            "The query has more than \(limit) words. Leave some out."
        case .tooManyPrefixes(let limit):
            "The query has more than \(limit) prefixes. Write whole words, or leave some out."
        case .tooManyRepetitions(let limit):
            "The query repeats words more than \(limit) times. Write each once."
        case .badFilter(let word, let problem):
            "The filter \(word) cannot be read: \(problem). Write path:PART, ext:md,txt, or modified: with 2026-01-31, "
                + "2026-01, today, 7d or 2026-01-01..2026-01-31. If it is a word to find, put it in double quotes."
        case .badChoice(let problem):
            "\(problem). OR joins words with words, and filters with filters. Write -word and filters apart from it."
        case .timedOut:
            "The search took too long. Write longer or rarer words, and fewer prefixes."
        case .cancelled:
            "The search was cancelled."
        case .syntax(let query, let detail):
            "The query \(query) is not valid FTS5: \(detail). Put words with special characters in double quotes, "
                + "write AND, OR, NOT in capitals and columns as path:, title: or body:, or use the syntax words."
        case .unavailable(let detail):
            "The index cannot answer: \(detail). Try again; if it stays, look at the status of the service."
        }
    }
}
