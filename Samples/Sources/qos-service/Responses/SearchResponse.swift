internal import Indexing

/// The answer of `/search`; keys are written in snake case.
struct SearchResponse: Encodable {
    let query: String
    let hits: [SearchHit]
    let complete: Bool
    let pending: Int
    /// Milliseconds from the request's arrival at its handler to the answer, waiting for a thread included.
    let tookMs: Double

    init(_ query: SearchQuery, _ answer: SearchAnswer, milliseconds: Double) {
        self.query = query.text
        hits = answer.hits
        complete = answer.isComplete
        pending = answer.pending
        tookMs = (milliseconds * 1000).rounded() / 1000
    }
}
