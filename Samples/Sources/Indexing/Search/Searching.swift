internal import Foundation
internal import GRDB
internal import TreeScan

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
            let query = query.stemmed(try IndexSchema.stemming(database))
            let hits = try Self.hits(query, in: database, control)
            let total = try Self.total(query, hits.count, in: database)
            let suggestions = total == 0 ? try Suggesting(query, database, control).suggestions() : []
            return SearchAnswer(
                hits: hits,
                total: min(total, SearchIndex.totalLimit),
                isTotalExact: total <= SearchIndex.totalLimit,
                isRanked: query.isRanked,
                isComplete: isComplete,
                pending: pending,
                suggestions: suggestions
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

    /// The statement that chooses the matching files, and its arguments.
    private static func matches(_ query: SearchQuery, score: String) -> (sql: String, arguments: StatementArguments) {
        let condition = query.filter.condition
        guard let expression = query.expression else {
            // Files without words: all that a scan saw and that were there when their turn came.
            var sql = "SELECT known.id AS rowid, 0.0 AS score FROM file AS known "
            sql += "WHERE known.reason NOT IN ('vanished', 'not-a-file')"
            var arguments = StatementArguments()
            if let condition {
                sql += " AND \(condition)"
                arguments += query.filter.arguments
            }
            if let excluded = query.excluded {
                sql += " AND known.id NOT IN (SELECT rowid FROM document WHERE document MATCH ?)"
                arguments += [excluded]
            }
            return (sql, arguments)
        }
        let table = query.syntax == .substrings ? "part" : "document"
        let words = query.excluded.map { "(\(expression)) NOT (\($0))" } ?? expression
        let select = "SELECT \(table).rowid AS rowid, \(score) AS score FROM \(table)"
        guard condition != nil || query.order == .modified else { return ("\(select) WHERE \(table) MATCH ?", [words]) }
        let sql = """
            \(select) CROSS JOIN file AS known ON known.id = \(table).rowid WHERE \(table) MATCH ? AND \(condition ?? "1")
            """
        return (sql, [words] + query.filter.arguments)
    }

    private static func hits(
        _ query: SearchQuery,
        in database: Database,
        _ control: SearchControl
    ) throws -> [SearchHit] {
        // The files are chosen first, by number. So only the text of the shown files is read.
        var (sql, arguments) = Self.matches(query, score: query.isRanked ? "rank" : "0.0")
        if query.order == .modified || query.expression == nil {
            sql += " ORDER BY known.modified DESC, known.path"
        } else if query.isRanked {
            sql += " ORDER BY rank"
        }
        let statement = try database.cachedStatement(
            sql: """
                SELECT file.id, file.path, file.modified, file.size, -chosen.score, CAST(document.body AS BLOB)
                FROM (\(sql) LIMIT ? OFFSET ?) AS chosen
                CROSS JOIN file ON file.id = chosen.rowid
                LEFT JOIN document ON document.rowid = chosen.rowid
                """
        )
        arguments += [query.limit, query.offset]
        let rows = try Row.fetchCursor(statement, arguments: arguments)
        var hits: [SearchHit] = []
        while let row = try rows.next() {
            try control.check()
            // A file that was never read has no text.
            let snippet = Snippet(of: Array(row[5] as Data? ?? Data()), terms: query.terms)
            hits.append(
                SearchHit(
                    id: row[0], file: RelativePath(bytes: Array(row[1] as Data)), modified: row[2], size: row[3],
                    score: row[4], snippet: snippet.text, line: snippet.line)
            )
        }
        return hits
    }

    /// Returns the number of matching files, or more than the limit if there are more. O(matches), up to the limit.
    private static func total(_ query: SearchQuery, _ found: Int, in database: Database) throws -> Int {
        if query.offset == 0, found < query.limit { return found }
        let (sql, arguments) = Self.matches(query, score: "0.0")
        let statement = try database.cachedStatement(sql: "SELECT count(*) FROM (\(sql) LIMIT ?)")
        return try Int.fetchOne(statement, arguments: arguments + [SearchIndex.totalLimit + 1]) ?? found
    }
}
