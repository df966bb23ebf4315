internal import Indexing

/// The answer of `/search`. Keys are written in snake case.
struct SearchResponse: Encodable {
    struct Hit: Encodable {
        /// The number of the file in this index, valid until the index is made anew.
        let id: Int64
        /// The path below the folder. Bytes that are not UTF-8 are replaced by U+FFFD.
        let path: String
        /// As the parameter `path` of `/files` and `/file` has it.
        let name: String
        /// The path for people.
        let display: String
        let score: Double
        let snippet: String
        /// The number of the line with the first match of the snippet, from 1.
        let line: Int
        /// Seconds since 1970.
        let modified: Double
        let size: Int64

        init(_ hit: SearchHit) {
            id = hit.id
            path = hit.path
            name = PathText.encoded(hit.file)
            display = hit.display
            score = hit.score
            snippet = hit.snippet
            line = hit.line
            modified = (Double(hit.modified) / 1e6).rounded() / 1000
            size = hit.size
        }
    }

    let query: String
    let hits: [Hit]
    /// Queries that have hits, if this one has none.
    let suggestions: [SearchSuggestion]
    /// The number of files that match, up to 10,000.
    let total: Int
    /// Whether no more than `total` files match.
    let totalExact: Bool
    let offset: Int
    /// Whether the best hits come first. They do unless the query is one or two letters.
    let ranked: Bool
    /// Whether the whole text of every file of the folder was searched.
    let complete: Bool
    let pending: Int
    /// Whether the folder of `fresh` was read after the request's beginning; nil without the parameter.
    let fresh: Bool?
    /// The files of that folder that wait to be read; nil without the parameter.
    let freshPending: Int?
    /// Milliseconds from the request's arrival at its handler to the answer, including the wait for a thread.
    let tookMs: Double

    init(_ query: SearchQuery, _ answer: SearchAnswer, _ refresh: SearchIndex.RefreshReport?, milliseconds: Double) {
        self.query = query.text
        hits = answer.hits.map(Hit.init)
        suggestions = answer.suggestions
        total = answer.total
        totalExact = answer.isTotalExact
        offset = query.offset
        ranked = answer.isRanked
        complete = answer.isComplete
        pending = answer.pending
        fresh = refresh?.isComplete
        freshPending = refresh?.pending
        tookMs = (milliseconds * 1000).rounded() / 1000
    }
}
