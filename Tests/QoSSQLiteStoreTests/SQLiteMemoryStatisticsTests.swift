#if SQLite
import GRDB
import GRDBSQLite
import QoSSQLiteStore
import Testing

@Suite("SQLite's count of its memory")
struct SQLiteMemoryStatisticsTests {
    /// Opens a database and writes to it, so that SQLite is in use.
    private static func use() throws -> DatabaseQueue {
        let queue = try DatabaseQueue()
        try queue.write { try $0.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (randomblob(100000))") }
        return queue
    }

    @Test("it counts unless it is turned off, and a process that uses SQLite already cannot turn it off")
    func counts() async {
        await #expect(processExitsWith: .success) {
            let queue = try Self.use()
            #expect(sqlite3_memory_used() > 100_000)
            #expect(!SQLiteMemoryStatistics.disable())
            #expect(sqlite3_memory_used() > 100_000)
            withExtendedLifetime(queue) {}
        }
    }

    @Test("turned off at the start of a process, it counts nothing")
    func isOff() async {
        await #expect(processExitsWith: .success) {
            #expect(SQLiteMemoryStatistics.disable())
            let queue = try Self.use()
            #expect(sqlite3_memory_used() == 0)
            withExtendedLifetime(queue) {}
        }
    }
}
#endif
