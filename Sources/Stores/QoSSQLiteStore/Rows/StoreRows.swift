#if SQLite
internal import GRDB
internal import QoSWorkloads

/// The statements of a connection, each prepared once.
struct StoreRows {
    let database: Database

    func execute(_ sql: String, _ arguments: StatementArguments = StatementArguments()) throws {
        let statement = try database.cachedStatement(sql: sql)
        statement.setUncheckedArguments(arguments)
        try statement.execute()
    }

    func rows(_ sql: String, _ arguments: StatementArguments = StatementArguments()) throws -> StoreCursor {
        let statement = try database.cachedStatement(sql: sql)
        statement.setUncheckedArguments(arguments)
        return StoreCursor(cursor: try Row.fetchCursor(statement))
    }

    /// Reads the first row while its statement stands on it; `nil` without one.
    func first<Value>(
        _ sql: String, _ arguments: StatementArguments = StatementArguments(), _ read: (StoreRow) throws -> Value
    ) throws -> Value? {
        let cursor = try rows(sql, arguments)
        // The end of a cursor resets its statement.
        return try withExtendedLifetime(cursor.cursor) { try cursor.next().map(read) }
    }

    /// Returns a copy of the first row.
    func row(_ sql: String, _ arguments: StatementArguments = StatementArguments()) throws -> StoreRow? {
        try first(sql, arguments) { StoreRow(row: $0.row.copy()) }
    }

    /// Returns the first column of the first row.
    func integer(_ sql: String, _ arguments: StatementArguments = StatementArguments()) throws -> Int64? {
        try first(sql, arguments) { try $0[0] }
    }

    /// Returns what all rows say.
    func all<Value>(
        _ sql: String, _ arguments: StatementArguments = StatementArguments(), _ read: (StoreRow) throws -> Value
    ) throws -> [Value] {
        let cursor = try rows(sql, arguments)
        return try withExtendedLifetime(cursor.cursor) {
            var found: [Value] = []
            while let row = try cursor.next() { found.append(try read(row)) }
            return found
        }
    }

    /// Returns the first column of all rows.
    func integers(_ sql: String, _ arguments: StatementArguments = StatementArguments()) throws -> [Int64] {
        try all(sql, arguments) { try $0[0] }
    }

    /// Returns the first column of all rows as items.
    func ids(_ sql: String, _ arguments: StatementArguments = StatementArguments()) throws -> [WorkloadItemID] {
        try all(sql, arguments) { WorkloadItemID(rawValue: try $0[0]) }
    }

    /// Whether there is a row.
    func has(_ sql: String, _ arguments: StatementArguments = StatementArguments()) throws -> Bool {
        try first(sql, arguments) { _ in true } ?? false
    }
}

/// The rows of a statement.
struct StoreCursor {
    fileprivate let cursor: RowCursor

    func next() throws -> StoreRow? { try cursor.next().map { StoreRow(row: $0) } }
}

/// A row whose columns are read with a check: a value that the column cannot have is a damaged file, and no mistake of
/// the program. An index that disagrees with its table gives such rows, and so does a foreign hand.
struct StoreRow {
    fileprivate let row: Row

    /// The value of a column; `nil` for a missing one if the type is optional.
    subscript<Value: DatabaseValueConvertible & StatementColumnConvertible>(_ index: Int) -> Value {
        get throws {
            do { return try row.decode(Value.self, atIndex: index) } catch is RowDecodingError {
                throw StoreCodes.damage("column \(index) of '\(row)' has no \(Value.self)")
            }
        }
    }
}
#endif
