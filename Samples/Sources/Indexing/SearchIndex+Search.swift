internal import Foundation
internal import GRDB

extension SearchIndex {
    /// The number of matching files up to which `SearchAnswer.total` is exact.
    public static let totalLimit = 10_000

    /// Answers a query from what is indexed at this moment.
    ///
    /// Blocks the calling thread while the database reads, typically for milliseconds, and never waits for a pass. Any
    /// thread may call it. The time grows with the number of matching files, which are all ranked. A single prefix of
    /// one or two letters says next to nothing, and is not ranked.
    ///
    /// - Parameters:
    ///   - query: The query.
    ///   - control: Ends the search early.
    /// - Throws: `SearchError`, among others `timedOut` and `cancelled` when the control says so.
    public func search(
        _ query: SearchQuery,
        control: SearchControl = SearchControl()
    ) throws(SearchError) -> SearchAnswer {
        // Taken first. Later commits may be found, but still count as pending.
        let status = board.current
        return try read(query.syntax == .fts ? query.text : nil, control) { database in
            let hits = try Self.hits(query, in: database, control)
            let total = try Self.total(query, hits.count, in: database)
            return SearchAnswer(
                hits: hits,
                total: min(total, Self.totalLimit),
                isTotalExact: total <= Self.totalLimit,
                isRanked: query.isRanked,
                isComplete: status.isComplete,
                pending: status.counts.pending
            )
        }
    }

    /// Returns some lines of the indexed text of a file, or nil when there is no such file in the index.
    ///
    /// Blocks the calling thread while the database reads. Any thread may call it.
    ///
    /// - Parameters:
    ///   - id: The number of the file, as in a hit.
    ///   - lines: The numbers of the lines, from 1.
    ///   - control: Ends the reading early.
    /// - Throws: `SearchError`.
    public func excerpt(
        of id: Int64,
        lines: ClosedRange<Int>,
        control: SearchControl = SearchControl()
    ) throws(SearchError) -> TextExcerpt? {
        try read(nil, control) { database in
            let statement = try database.cachedStatement(
                sql: """
                    SELECT file.path, CAST(body AS BLOB), truncated FROM document JOIN file ON file.id = document.rowid
                    WHERE document.rowid = ?
                    """
            )
            return try Row.fetchOne(statement, arguments: [id]).map { row in
                TextExcerpt(path: Array(row[0] as Data), text: Array(row[1] as Data), isTruncated: row[2], lines: lines)
            }
        }
    }

    /// Reads from the database under a control. `expression` is the user's own query, if it can be wrong.
    private func read<Value>(
        _ expression: String?,
        _ control: SearchControl,
        _ body: (Database) throws -> Value
    ) throws(SearchError) -> Value {
        control.begin()
        try control.check()
        do {
            return try pool().read { database in try database.withInterruption(by: control) { try body(database) } }
        } catch let error as SearchError {
            throw error
        } catch let error as DatabaseError {
            if error.resultCode == .SQLITE_INTERRUPT { try control.check() }
            if let expression, error.resultCode == .SQLITE_ERROR {
                throw .syntax(query: expression, detail: error.message ?? "no message")
            }
            if error.isDamage { report(damage: error.summary) }
            throw .unavailable(error.summary)
        } catch {
            throw .unavailable("\(error)")
        }
    }

    private static func hits(
        _ query: SearchQuery,
        in database: Database,
        _ control: SearchControl
    ) throws -> [SearchHit] {
        // The files are chosen first, by number. So only the text of the shown files is read.
        let chosen =
            query.isRanked
            ? "SELECT rowid, rank AS score FROM document WHERE document MATCH ? ORDER BY rank LIMIT ? OFFSET ?"
            : "SELECT rowid, 0.0 AS score FROM document WHERE document MATCH ? LIMIT ? OFFSET ?"
        let statement = try database.cachedStatement(
            sql: """
                SELECT file.id, file.path, -chosen.score, CAST(document.body AS BLOB)
                FROM (\(chosen)) AS chosen
                CROSS JOIN document ON document.rowid = chosen.rowid
                CROSS JOIN file ON file.id = chosen.rowid
                """
        )
        let rows = try Row.fetchCursor(
            statement,
            arguments: [query.expression, query.limit, query.offset]
        )
        var hits: [SearchHit] = []
        while let row = try rows.next() {
            try control.check()
            let snippet = Snippet(of: Array(row[3] as Data), terms: query.terms)
            hits.append(
                SearchHit(id: row[0], path: Array(row[1] as Data), score: row[2], snippet: snippet)
            )
        }
        return hits
    }

    /// Returns the number of matching files, or more than the limit if there are more. O(matches), up to the limit.
    private static func total(_ query: SearchQuery, _ found: Int, in database: Database) throws -> Int {
        if query.offset == 0, found < query.limit { return found }
        let statement = try database.cachedStatement(
            sql: "SELECT count(*) FROM (SELECT 1 FROM document WHERE document MATCH ? LIMIT ?)"
        )
        return try Int.fetchOne(statement, arguments: [query.expression, totalLimit + 1]) ?? found
    }
}
