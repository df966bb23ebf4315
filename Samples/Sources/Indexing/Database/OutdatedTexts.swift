internal import GRDB

/// The number of texts that were replaced or removed since the parts of the full-text index were last merged into one,
/// in the table `setting`.
///
/// FTS5 keeps the words of such a text, and a mark that they are gone, until the merge that reaches the part with them.
/// Until then each search reads both.
struct OutdatedTexts {
    let database: Database

    /// Counts one more.
    func add() throws {
        let sql = """
            INSERT INTO setting VALUES ('outdated', '1')
            ON CONFLICT (name) DO UPDATE SET value = CAST(value AS INTEGER) + 1
            """
        try database.cachedStatement(sql: sql).execute()
    }

    /// The number.
    var count: Int {
        get throws {
            try Int.fetchOne(
                database, sql: "SELECT CAST(value AS INTEGER) FROM setting WHERE name = 'outdated'") ?? 0
        }
    }

    /// Begins to count anew, after a merge into one part.
    func clear() throws {
        try database.execute(sql: "DELETE FROM setting WHERE name = 'outdated'")
    }
}
