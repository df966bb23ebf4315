internal import Foundation
internal import GRDB

/// Searches in a database.
struct Searching {
    let pool: DatabasePool
    /// Takes damage that a search meets.
    let report: @Sendable (String) -> Void

    init(pool: DatabasePool, report: @escaping @Sendable (String) -> Void) {
        self.pool = pool
        self.report = report
    }

    /// Answers a query.
    func answer(
        _ query: SearchQuery, _ control: SearchControl, isComplete: Bool, pending: Int
    ) throws(SearchError) -> SearchAnswer {
        try read(query.syntax == .fts ? query.text : nil, control) { database in
            guard try query.syntax != .substrings || IndexSchema.hasSubstrings(database) else {
                throw SearchError.noSubstrings
            }
            let hits = try Self.hits(query, in: database, control)
            let total = try Self.total(query, hits.count, in: database)
            return SearchAnswer(
                hits: hits,
                total: min(total, SearchIndex.totalLimit),
                isTotalExact: total <= SearchIndex.totalLimit,
                isRanked: query.isRanked,
                isComplete: isComplete,
                pending: pending
            )
        }
    }

    /// Reads from the database under a control. `expression` is the user's own query, if it can be wrong.
    func read<Value>(
        _ expression: String?,
        _ control: SearchControl,
        _ body: (Database) throws -> Value
    ) throws(SearchError) -> Value {
        control.begin()
        try control.check()
        do {
            return try pool.read { database in try database.withInterruption(by: control) { try body(database) } }
        } catch let error as SearchError {
            throw error
        } catch let error as DatabaseError {
            if error.resultCode == .SQLITE_INTERRUPT { try control.check() }
            if let expression, error.resultCode == .SQLITE_ERROR {
                throw .syntax(query: expression, detail: error.message ?? "no message")
            }
            if error.isDamage { report(error.summary) }
            throw .unavailable(error.summary)
        } catch {
            throw .unavailable("\(error)")
        }
    }

    /// The statement that chooses the matching files.
    private static func matches(_ query: SearchQuery, score: String) -> String {
        let table = query.syntax == .substrings ? "part" : "document"
        let select = "SELECT \(table).rowid AS rowid, \(score) AS score FROM \(table)"
        guard let condition = query.filter.condition else { return "\(select) WHERE \(table) MATCH ?" }
        return "\(select) CROSS JOIN file AS known ON known.id = \(table).rowid WHERE \(table) MATCH ? AND \(condition)"
    }

    private static func hits(
        _ query: SearchQuery,
        in database: Database,
        _ control: SearchControl
    ) throws -> [SearchHit] {
        // The files are chosen first, by number. So only the text of the shown files is read.
        let matches = Self.matches(query, score: query.isRanked ? "rank" : "0.0")
        let chosen = matches + (query.isRanked ? " ORDER BY rank" : "") + " LIMIT ? OFFSET ?"
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
            arguments: StatementArguments([query.expression]) + query.filter.arguments + [query.limit, query.offset]
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
            sql: "SELECT count(*) FROM (\(Self.matches(query, score: "0.0")) LIMIT ?)"
        )
        let arguments = StatementArguments([query.expression]) + query.filter.arguments
        return try Int.fetchOne(statement, arguments: arguments + [SearchIndex.totalLimit + 1]) ?? found
    }
}
