#if SQLite
internal import GRDB

/// The statements of a connection, each prepared once.
struct StoreRows {
    let database: Database

    func execute(_ sql: String, _ arguments: StatementArguments = StatementArguments()) throws {
        let statement = try database.cachedStatement(sql: sql)
        statement.setUncheckedArguments(arguments)
        try statement.execute()
    }

    func rows(_ sql: String, _ arguments: StatementArguments = StatementArguments()) throws -> RowCursor {
        let statement = try database.cachedStatement(sql: sql)
        statement.setUncheckedArguments(arguments)
        return try Row.fetchCursor(statement)
    }

    /// Reads the first row while its statement stands on it; `nil` without one.
    func first<Value>(
        _ sql: String, _ arguments: StatementArguments = StatementArguments(), _ read: (Row) throws -> Value
    ) throws -> Value? {
        let cursor = try rows(sql, arguments)
        // The end of a cursor resets its statement.
        return try withExtendedLifetime(cursor) { try cursor.next().map(read) }
    }

    /// Returns a copy of the first row.
    func row(_ sql: String, _ arguments: StatementArguments = StatementArguments()) throws -> Row? {
        try first(sql, arguments) { $0.copy() }
    }

    /// Returns the first column of the first row.
    func integer(_ sql: String, _ arguments: StatementArguments = StatementArguments()) throws -> Int64? {
        try first(sql, arguments) { $0[0] }
    }

    /// Returns the first column of all rows.
    func integers(_ sql: String, _ arguments: StatementArguments = StatementArguments()) throws -> [Int64] {
        let cursor = try rows(sql, arguments)
        return try withExtendedLifetime(cursor) {
            var found: [Int64] = []
            while let row = try cursor.next() { found.append(row[0]) }
            return found
        }
    }

    /// Whether there is a row.
    func has(_ sql: String, _ arguments: StatementArguments = StatementArguments()) throws -> Bool {
        try first(sql, arguments) { _ in true } ?? false
    }
}
#endif
