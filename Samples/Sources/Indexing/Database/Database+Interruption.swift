internal import GRDB
internal import GRDBSQLite

extension Database {
    /// The number of operations of the database's virtual machine between two looks at the control.
    ///
    /// A full-text query reads each page by its own statement, and these operations count too. So it looks at the
    /// control every few pages.
    private static let interval: Int32 = 20

    /// Runs `body`, which fails with `SQLITE_INTERRUPT` as soon as `control` tells it to stop.
    func withInterruption<Value>(by control: SearchControl, _ body: () throws -> Value) rethrows -> Value {
        // SAFETY: the handler is called on this thread while a statement of this connection runs, and is removed before
        // the body's end. The control outlives the body, because this function holds it.
        let context = unsafe Unmanaged.passUnretained(control).toOpaque()
        unsafe sqlite3_progress_handler(
            sqliteConnection,
            Self.interval,
            { context in
                guard let context = unsafe context else { return 0 }
                return unsafe Unmanaged<SearchControl>.fromOpaque(context).takeUnretainedValue().shouldStop ? 1 : 0
            },
            context
        )
        defer { unsafe sqlite3_progress_handler(sqliteConnection, 0, nil, nil) }
        return try withExtendedLifetime(control) { try body() }
    }
}
