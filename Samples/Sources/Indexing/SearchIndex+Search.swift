internal import Foundation
internal import GRDB

extension SearchIndex {
    /// Answers a query from what is indexed at this moment.
    ///
    /// Blocks the calling thread while the database reads, typically for milliseconds, and never waits for a pass.
    /// Any thread may call it. The time grows with the number of matching files, all of which are ranked.
    ///
    /// - Throws: `SearchError`.
    public func search(_ query: SearchQuery) throws(SearchError) -> SearchAnswer {
        // Taken first: what is committed after this moment may be found, but is still counted as pending.
        let status = board.current
        do {
            let hits = try pool().read { try Self.hits(query, in: $0) }
            return SearchAnswer(hits: hits, isComplete: status.isComplete, pending: status.counts.pending)
        } catch let error as DatabaseError where error.resultCode == .SQLITE_ERROR && query.syntax == .fts {
            throw .syntax(query: query.text, detail: error.message ?? "no message")
        } catch let error as DatabaseError {
            if error.isDamage { report(damage: error.summary) }
            throw .unavailable(error.summary)
        } catch {
            throw .unavailable("\(error)")
        }
    }

    private static func hits(_ query: SearchQuery, in database: Database) throws -> [SearchHit] {
        let statement = try database.cachedStatement(
            sql: """
                SELECT path, -rank, CAST(body AS BLOB) FROM document
                WHERE document MATCH ? ORDER BY rank LIMIT ? OFFSET ?
                """
        )
        let rows = try Row.fetchCursor(
            statement,
            arguments: [query.expression, query.limit, query.offset]
        )
        var hits: [SearchHit] = []
        while let row = try rows.next() {
            let snippet = Snippet(of: Array(row[2] as Data), terms: query.terms)
            hits.append(SearchHit(path: row[0], score: row[1], snippet: snippet.text))
        }
        return hits
    }
}
