internal import Indexing

/// The answer of `/search`. Keys are written in snake case.
struct SearchResponse: Encodable {
    let query: String
    let hits: [SearchHit]
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
        hits = answer.hits
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
