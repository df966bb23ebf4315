#if SQLite
internal import CSQLiteSettings
internal import GRDBSQLite

/// SQLite's count of the memory that it uses.
///
/// Each allocation of any connection takes one mutex of the process to count it, also for connections of other libraries.
/// It is a lock of all classes: background work that writes a database holds it a thousand times a second, and a request
/// that reads another database waits for it. A service that does both turns the count off.
public enum SQLiteMemoryStatistics {
    /// Turns the count off for the whole process (`SQLITE_CONFIG_MEMSTATUS` of sqlite3_config).
    ///
    /// Afterwards `sqlite3_memory_used`, `sqlite3_status` for memory, and the limits `PRAGMA soft_heap_limit` and
    /// `hard_heap_limit` do not work. Everything else does. O(1). Call it first in `main`, while no other thread uses
    /// SQLite.
    ///
    /// - Returns: Whether the count is off. SQLite refuses the call once it is in use, and then counts on.
    public static func disable() -> Bool {
        sqlite3_config_number(SQLITE_CONFIG_MEMSTATUS, 0) == SQLITE_OK
    }
}
#endif
