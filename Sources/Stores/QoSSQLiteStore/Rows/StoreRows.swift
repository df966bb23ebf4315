#if SQLite
internal import GRDB
internal import GRDBSQLite
internal import QoSWorkloads

/// The statements of a connection, each prepared once.
///
/// They are bound, stepped and read here: GRDB's rows learn the names of all columns anew for each execution, and its
/// arguments are copied twice. Both cost more than the statement of an item.
struct StoreRows {
    let database: Database

    /// Values in the order of a statement's parameters.
    typealias Arguments = [(any StatementBinding)?]

    /// Executes a statement, and ignores its rows.
    func execute(_ sql: String, _ arguments: Arguments = []) throws {
        try visit(sql, arguments) { _ in true }
    }

    /// Reads the first row; `nil` without one.
    func first<Value>(_ sql: String, _ arguments: Arguments = [], _ read: (StoreRow) throws -> Value) throws -> Value? {
        var found: Value?
        try visit(sql, arguments) { row in
            found = try read(row)
            return false
        }
        return found
    }

    /// Returns the first column of the first row.
    func integer(_ sql: String, _ arguments: Arguments = []) throws -> Int64? {
        try first(sql, arguments) { try $0[0] }
    }

    /// Returns what all rows say.
    func all<Value>(_ sql: String, _ arguments: Arguments = [], _ read: (StoreRow) throws -> Value) throws -> [Value] {
        var found: [Value] = []
        try each(sql, arguments) { found.append(try read($0)) }
        return found
    }

    /// Returns the first column of all rows.
    func integers(_ sql: String, _ arguments: Arguments = []) throws -> [Int64] {
        try all(sql, arguments) { try $0[0] }
    }

    /// Returns the first column of all rows as items.
    func ids(_ sql: String, _ arguments: Arguments = []) throws -> [WorkloadItemID] {
        try all(sql, arguments) { WorkloadItemID(rawValue: try $0[0]) }
    }

    /// Whether there is a row.
    func has(_ sql: String, _ arguments: Arguments = []) throws -> Bool {
        try first(sql, arguments) { _ in true } ?? false
    }

    /// Reads all rows, one after another.
    ///
    /// - Parameter body: gets each row. It may execute other statements, but not this one.
    func each(_ sql: String, _ arguments: Arguments = [], _ body: (StoreRow) throws -> Void) throws {
        try visit(sql, arguments) { row in
            try body(row)
            return true
        }
    }

    /// Executes a statement.
    ///
    /// - Parameter body: gets each row, and says whether there should be another.
    private func visit(_ sql: String, _ arguments: Arguments, _ body: (StoreRow) throws -> Bool) throws {
        let statement = try database.cachedStatement(sql: sql)
        let steps = unsafe statement.sqliteStatement
        precondition(unsafe sqlite3_stmt_busy(steps) == 0, "a statement within itself: \(sql)")
        // A statement that failed says so again when it is reset, and can be used again.
        defer { unsafe sqlite3_reset(steps) }
        let count = unsafe sqlite3_bind_parameter_count(steps)
        precondition(arguments.count == Int(count), "\(arguments.count) values for \(count) parameters: \(sql)")
        for (index, argument) in arguments.enumerated() {
            let place = CInt(index + 1)
            let code = unsafe argument?.bind(to: steps, at: place) ?? sqlite3_bind_null(steps, place)
            if code != SQLITE_OK { throw error(code, sql) }
        }
        while true {
            let code = unsafe sqlite3_step(steps)
            switch code {
            case SQLITE_ROW: if try !body(StoreRow(statement: statement)) { return }
            case SQLITE_DONE: return
            default: throw error(code, sql)
            }
        }
    }

    private func error(_ code: CInt, _ sql: String) -> DatabaseError {
        let message = unsafe database.sqliteConnection.map { unsafe String(cString: sqlite3_errmsg($0)) }
        return DatabaseError(resultCode: ResultCode(rawValue: code), message: message, sql: sql)
    }
}

/// A row whose columns are read with a check: a value that the column cannot have is a damaged file, and no mistake of
/// the program. An index that disagrees with its table gives such rows, and so does a foreign hand.
///
/// It is valid until the next one.
struct StoreRow {
    fileprivate let statement: Statement

    /// The value of a column; `nil` for a missing one if the type is optional.
    subscript<Value: StatementColumnConvertible>(_ index: Int) -> Value {
        get throws {
            let steps = unsafe statement.sqliteStatement
            let column = CInt(index)
            precondition(unsafe column < sqlite3_data_count(steps), "no column \(index): \(statement.sql)")
            guard let value = unsafe Value.fromStatement(steps, atUncheckedIndex: column) else {
                let text = unsafe sqlite3_column_text(steps, column).map { unsafe String(cString: $0) } ?? "NULL"
                throw StoreCodes.damage("column \(index) is '\(text)', no \(Value.self): \(statement.sql)")
            }
            return value
        }
    }
}
#endif
