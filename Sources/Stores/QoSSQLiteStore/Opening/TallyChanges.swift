#if SQLite
internal import CSQLiteSettings
internal import GRDB
internal import GRDBSQLite
internal import QoSKernel

/// What a transaction changes in the number of items by lane, class, state and place.
///
/// The table `tally` has the numbers, so that a look at a million items reads some rows. A life changes them five times.
/// Triggers of the file keep the table for any program that writes to it. They cost an eighth of a call: each transaction
/// has to write one more page. So a store's own connection has other triggers, which tell the changes to this object, and
/// a transaction writes them into the one row of `store` that it writes in any case. When that text names many numbers,
/// they go to the table. Who counts adds the two.
///
/// Threading: any thread. Only the thread of the transaction changes items.
final class TallyChanges: Sendable {
    /// The most numbers in the row of the store: about a kilobyte of text.
    static let limit = 64

    private let changes = Lock([Int64: Int64]())

    /// Lets a connection tell the changes here, instead of writing each into the table.
    ///
    /// Before SQLite 3.35 that is not possible, and the triggers of the file go on.
    func follow(_ database: Database) throws {
        guard sqlite3_libversion_number() >= 3_035_000, let connection = unsafe database.sqliteConnection else {
            return
        }
        let counts = DatabaseFunction("qos_tally", argumentCount: 2) { [unowned self] values in
            self.changes.withLock { changes in
                if let old = Int64.fromDatabaseValue(values[0]) { changes[old, default: 0] &-= 1 }
                if let new = Int64.fromDatabaseValue(values[1]) { changes[new, default: 0] &+= 1 }
            }
            return nil
        }
        database.add(function: counts)
        let (old, new) = (StoreSchema.tallyCode("OLD"), StoreSchema.tallyCode("NEW"))
        try database.execute(
            sql: """
                CREATE TEMP TRIGGER tell_insert AFTER INSERT ON item BEGIN SELECT qos_tally(NULL, \(new)); END;
                CREATE TEMP TRIGGER tell_delete AFTER DELETE ON item BEGIN SELECT qos_tally(\(old), NULL); END;
                CREATE TEMP TRIGGER tell_update AFTER UPDATE OF lane, level, state, place ON item
                WHEN \(old) <> \(new) BEGIN SELECT qos_tally(\(old), \(new)); END;
                """)
        // Of the file's triggers alone.
        let code = unsafe sqlite3_db_config_number(connection, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0)
        guard code == SQLITE_OK else { throw DatabaseError(resultCode: ResultCode(rawValue: code)) }
    }

    /// Forgets what a transaction that was rolled back has told.
    func clear() { changes.withLock { $0.removeAll(keepingCapacity: true) } }

    /// Adds the changes of the transaction to those that are not in the table yet.
    ///
    /// - Returns: whether there were any.
    func move(to pending: inout [Int64: Int64]) -> Bool {
        changes.withLock { changes in
            var hasChanged = false
            for (code, change) in changes where change != 0 {
                let sum = pending[code, default: 0] &+ change
                pending[code] = sum == 0 ? nil : sum
                hasChanged = true
            }
            changes.removeAll(keepingCapacity: true)
            return hasChanged
        }
    }
}
#endif
