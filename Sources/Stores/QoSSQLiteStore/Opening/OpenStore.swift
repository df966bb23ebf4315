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
        var nextTry: ContinuousClock.Instant?
        var isClosed = false
    }

    let file: StoreFile
    /// Called after another file took the place of the open one.
    private let replaced: @Sendable () -> Void
    private let state: Lock<State>

    init(_ file: StoreFile, replaced: @escaping @Sendable () -> Void) throws(SQLiteStoreError) {
        self.file = file
        self.replaced = replaced
        let pool = try file.open()
        state = Lock(State(pool: pool, identity: file.identity))
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
    /// store goes on with the open one. If the path names another file, the store goes on with that one.
    ///
    /// - Throws: `SQLiteStoreError` for another file that is no store.
    func ready() throws(SQLiteStoreError) -> (pool: DatabasePool, isOther: Bool) {
        let (pool, identity, nextTry, isClosed) = state.withLock { ($0.pool, $0.identity, $0.nextTry, $0.isClosed) }
        let found = file.identity
        guard found != identity, !isClosed else { return (pool, false) }
        if found == nil {
            let now = ContinuousClock.now
            if let nextTry, now < nextTry { return (pool, false) }
            state.withLock { $0.nextTry = now + Self.retryInterval }
            do {
                try file.writeAgain(from: pool)
            } catch {
                return (pool, false)
            }
        }
        let other = try file.open()
        let isClosedNow = state.withLock { state in
            if !state.isClosed {
                state.pool = other
                state.identity = file.identity
                state.nextTry = nil
            }
            return state.isClosed
        }
        guard !isClosedNow else { return (pool, false) }
        replaced()
        if found == nil { file.settings.fileRestored?() }
        // The old database closes when the last read of it ends.
        return (other, true)
    }
}
#endif
