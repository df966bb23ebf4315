#if SQLite
internal import CSQLiteSettings
internal import GRDBSQLite

/// SQLite's count of the memory that it uses.
///
/// Each allocation of any connection takes one mutex of the process to count it. Connections of other libraries take it
/// too. So a request that reads one database waits for background work that writes another one. A service that does
/// both turns the count off.
public enum SQLiteMemoryStatistics {
    /// Turns the count off for the whole process (`SQLITE_CONFIG_MEMSTATUS` of sqlite3_config).
    ///
    /// Afterwards `sqlite3_memory_used`, `sqlite3_status` for memory, and the limits `PRAGMA soft_heap_limit` and
    /// `hard_heap_limit` do not work. Everything else does. O(1). Call it first in `main`, while no other thread uses
    /// SQLite.
    ///
    /// - Returns: Whether SQLite accepted the call. It refuses once it is in use, and the count stays as it was.
    public static func disable() -> Bool {
        sqlite3_config_number(SQLITE_CONFIG_MEMSTATUS, 0) == SQLITE_OK
    }
}
#endif
