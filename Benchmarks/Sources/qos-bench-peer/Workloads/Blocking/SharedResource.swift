import CBenchShims
import CSQLite
import Glibc
import Synchronization

/// Something that work of all classes uses and that has a lock inside.
protocol SharedResource: Sendable {
    /// Uses it for 2 µs or a few more, as a job of userInteractive.
    ///
    /// - Returns: how long the lock, or where that cannot be seen the use, has taken. Nanoseconds.
    func useShortly() -> UInt64

    /// Uses it for some 20 µs, as work of background.
    func useForLonger()
}

/// A bare lock, which runs into the other class as often as can be.
final class MutexResource: SharedResource {
    private let lock = Mutex(())

    func useShortly() -> UInt64 {
        let start = bench_now()
        return lock.withLock { _ in
            let waited = bench_now() - start
            bench_work(2_000)
            return waited
        }
    }

    func useForLonger() {
        lock.withLock { _ in _ = bench_work(20_000) }
    }
}

/// The C library's memory: blocks too large for a thread's own cache, mostly freed by another thread than the one that
/// took them, so that both classes use the same arenas.
final class MallocResource: SharedResource {
    func useShortly() -> UInt64 {
        let start = bench_now()
        bench_exchange_memory(8)
        return bench_now() - start
    }

    func useForLonger() {
        bench_exchange_memory(80)
    }
}

/// One SQLite file through one connection that all threads share, as SQLite's serialized mode allows.
@safe
final class SQLiteResource: SharedResource {
    // SAFETY: the connection was opened in serialized mode: any thread may use it.
    private nonisolated(unsafe) let connection: OpaquePointer

    init() throws {
        let path = "/tmp/qos-bench-\(getpid()).sqlite"
        var opened: OpaquePointer?
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_FULLMUTEX
        let status = unsafe sqlite3_open_v2(path, &opened, flags, nil)
        guard status == SQLITE_OK, let opened = unsafe opened else { throw Failure(status: status) }
        unsafe connection = opened
        // Measured is the lock and not the disk: nothing waits for one.
        try run(
            """
            PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF;
            CREATE TABLE entry (k INTEGER PRIMARY KEY, v INTEGER);
            WITH RECURSIVE n(k) AS (VALUES (1) UNION ALL SELECT k + 1 FROM n WHERE k < 1000)
            INSERT INTO entry SELECT k, 0 FROM n;
            """)
        // Open until the process ends, and gone then.
        unsafe unlink(path)
    }

    func useShortly() -> UInt64 {
        let start = bench_now()
        runOrFail("SELECT v FROM entry WHERE k = 7")
        return bench_now() - start
    }

    func useForLonger() {
        runOrFail("UPDATE entry SET v = v + 1 WHERE k <= 10")
    }

    private func run(_ statement: String) throws(Failure) {
        let status = unsafe sqlite3_exec(connection, statement, nil, nil, nil)
        guard status == SQLITE_OK else { throw Failure(status: status) }
    }

    private func runOrFail(_ statement: String) {
        do { try run(statement) } catch { PeerMain.fail("\(error)", status: 1) }
    }

    /// SQLite refused something.
    struct Failure: Error, CustomStringConvertible {
        let status: Int32

        var description: String { "SQLite cannot do that: result code \(status)" }
    }
}
