#if SQLite
internal import GRDB
internal import QoSKernel

/// The open database of a store. A file that was removed meanwhile is written again from the open one.
///
/// Threading: any thread. ``ready()`` is for the thread that has the right to write.
final class OpenStore: Sendable {
    /// The time between two attempts to write a removed file again.
    private static let retryInterval: Duration = .seconds(1)

    private struct State {
        var pool: DatabasePool
        var identity: StoreFile.Identity?
        /// The log of the open database.
        var log: StoreFile.Identity?
        /// The size of the log from which its growth is told.
        var nextLogSize = StoreFile.logLimit
        var nextTry: ContinuousClock.Instant?
        var isClosed = false
    }

    let file: StoreFile
    /// What the transaction under way changes in the number of items.
    let tallies = TallyChanges()
    /// Called after another file took the place of the open one.
    private let replaced: @Sendable () -> Void
    private let state: Lock<State>

    init(_ file: StoreFile, replaced: @escaping @Sendable () -> Void) throws(SQLiteStoreError) {
        self.file = file
        self.replaced = replaced
        let pool = try file.open(telling: tallies)
        state = Lock(State(pool: pool, identity: file.identity, log: file.log?.identity))
    }

    /// The database.
    var pool: DatabasePool { state.withLock { $0.pool } }

    /// Whether the path names no file, or another one.
    var isDisplaced: Bool { state.withLock { !$0.isClosed && $0.identity != file.identity } }

    /// Closes the database for good.
    func close() throws {
        let pool = state.withLock { state in
            state.isClosed = true
            return state.pool
        }
        try pool.close()
    }

    /// Returns the database for the next transaction, and whether it is another one than before.
    ///
    /// If the path names no file any more, the file is written again with all its content. Until that succeeds, the
    /// store goes on with the open one. If the path names another file, the store goes on with that one. A log that was
    /// removed, or replaced by another process, is left as well: what it has goes to the file first.
    ///
    /// - Throws: `SQLiteStoreError` for another file that is no store.
    func ready() throws(SQLiteStoreError) -> (pool: DatabasePool, isOther: Bool) {
        let (pool, identity, nextTry, isClosed) = state.withLock { ($0.pool, $0.identity, $0.nextTry, $0.isClosed) }
        let found = file.identity
        guard !isClosed else { return (pool, false) }
        if found == identity {
            let log = file.log
            tell(ofLog: log?.size ?? 0)
            guard hasLost(log) else { return (pool, false) }
            if log == nil, (try? Self.emptyLog(of: pool)) != true { return (pool, false) }
        } else if found == nil {
            let now = ContinuousClock.now
            if let nextTry, now < nextTry { return (pool, false) }
            state.withLock { $0.nextTry = now + Self.retryInterval }
            do {
                try file.writeAgain(from: pool)
            } catch {
                return (pool, false)
            }
        }
        let other = try file.open(telling: tallies)
        let isClosedNow = state.withLock { state in
            if !state.isClosed {
                state.pool = other
                state.identity = file.identity
                state.log = file.log?.identity
                state.nextTry = nil
            }
            return state.isClosed
        }
        guard !isClosedNow else { return (pool, false) }
        replaced()
        if found == nil || found == identity { file.settings.fileRestored?() }
        // The old database closes when the last read of it ends.
        return (other, true)
    }

    // MARK: The log

    /// Whether the log beside the file is not that of the open database.
    private func hasLost(_ log: (identity: StoreFile.Identity, size: Int64)?) -> Bool {
        state.withLock { state in
            guard let known = state.log else {
                state.log = log?.identity
                return false
            }
            return known != log?.identity
        }
    }

    /// Writes all of a log to the file.
    ///
    /// - Returns: whether nothing is left in the log. A reader may need the rest.
    private static func emptyLog(of pool: DatabasePool) throws -> Bool {
        try pool.writeWithoutTransaction { database in
            let row = try Row.fetchOne(database, sql: "PRAGMA wal_checkpoint(PASSIVE)")
            guard let row, (row[0] as Int64) == 0 else { return false }
            return row[1] as Int64 == row[2] as Int64
        }
    }

    /// Tells of a log that has grown far beyond its usual size: at its limit, and at each doubling.
    private func tell(ofLog size: Int64) {
        let tells = state.withLock { state in
            if size < StoreFile.logLimit { state.nextLogSize = StoreFile.logLimit }
            guard size > state.nextLogSize else { return false }
            while state.nextLogSize < size { state.nextLogSize *= 2 }
            return true
        }
        if tells { file.settings.logGrown?(size) }
    }

    /// Makes room after a full disk: what the log has goes to the file, so that the log begins anew.
    func makeRoom() {
        _ = try? Self.emptyLog(of: pool)
    }
}
#endif
