#if SQLite
internal import GRDB
internal import QoSCore
internal import QoSKernel
internal import QoSRuntime

/// Runs calls in transactions: several in one, each acknowledged after the commit.
///
/// Threading: any thread. A caller's task suspends, or blocks a worker of its own class (`QoS.withBlocking`).
final class Committer: Sendable {
    /// The longest time for which a transaction takes further calls.
    private static let transactionTime: Duration = .milliseconds(10)
    /// The largest number of calls in a transaction.
    private static let transactionCalls = 256

    private let open: OpenStore
    private let queue = Lock(CallQueue())
    /// The right to use the connection that writes, and what is known between two transactions.
    private let writer = QoSMutex(StoreCache(), name: "workload-store")
    private var file: StoreFile { open.file }
    /// Tells the watchers that a host should look at the store.
    private let notify: @Sendable () -> Void

    init(_ open: OpenStore, notify: @escaping @Sendable () -> Void) {
        self.open = open
        self.notify = notify
    }

    /// Runs a body in a transaction, and returns after the commit.
    ///
    /// - Throws: the body's `WorkloadStoreError`, with what the body wrote before it; or `SQLiteStoreError`, and nothing
    ///   has changed.
    func perform<Success: Sendable>(
        _ name: String, isHeartbeat: Bool = false, isSynced: Bool = true,
        _ body: @escaping @Sendable (inout StoreTransaction) throws -> Success
    ) async throws -> Success {
        let rank = isHeartbeat ? CallQueue.ranks - 1 : (QoS.currentLevel ?? .default).qosClass.rank
        let call = StoreCall(name, rank: rank, isSynced: isSynced, body)
        var leads = queue.withLock { $0.add(call) }
        if !leads { leads = await call.wait() }
        if leads {
            await QoS.withBlocking { self.lead(for: call) }
        }
        return try call.take()
    }

    /// Runs transactions until a call has its answer.
    private func lead(for call: any PendingCall) {
        while !call.hasEnded {
            writer.withLock { cache in
                // Another leader may have run it.
                if !call.hasEnded { runTransaction(&cache) }
            }
        }
        queue.withLock { $0.leaderEnded(rank: call.rank) }?.resume(leads: true)
    }

    private func runTransaction(_ cache: inout StoreCache) {
        var taken = queue.withLock { $0.take(atMost: Self.transactionCalls) }
        guard !taken.isEmpty else { return }
        var done = 0
        /// The call that is being run: an error is its own.
        var current: (any PendingCall)?
        do {
            let (pool, isOther) = try open.ready()
            if isOther { cache = StoreCache() }
            let concernsHosts = try pool.writeWithoutTransaction { database in
                // It must not change within a transaction.
                let isSynced = file.settings.durability == .powerLoss && taken.contains { $0.isSynced }
                if cache.isSynced != isSynced {
                    // SQLite compiles such a statement anew each time.
                    try database.cachedStatement(sql: "PRAGMA synchronous = \(isSynced ? "FULL" : "NORMAL")").execute()
                    cache.isSynced = isSynced
                }
                // As `beginTransaction` and `commit`, which compile their statements anew each time.
                try database.cachedStatement(sql: "BEGIN IMMEDIATE TRANSACTION").execute()
                defer { if database.isInsideTransaction { try? database.rollback() } }
                reached(.begun, taken)
                var transaction = try StoreTransaction(
                    database, cache, open.tallies, stepLimit: file.settings.stepLimit)
                let end = ContinuousClock.now + Self.transactionTime
                while done < taken.count, done == 0 || ContinuousClock.now < end {
                    current = taken[done]
                    try taken[done].run(in: &transaction)
                    done += 1
                }
                current = nil
                // The others wait for the next one.
                let rest = taken[done...]
                if !rest.isEmpty { queue.withLock { $0.putBack(Array(rest)) } }
                taken.removeLast(rest.count)
                try transaction.finish()
                reached(.written, taken)
                try database.cachedStatement(sql: "COMMIT TRANSACTION").execute()
                reached(.committed, taken)
                cache = transaction.cache
                return transaction.rules.concernsHosts
            }
            // A process that ends between the two has acknowledged nothing that no one was told of.
            if concernsHosts { notify() }
            for call in taken { call.resume(leads: false) }
            reached(.acknowledged, taken)
        } catch {
            // Rows that were read may be gone.
            cache = StoreCache()
            let failure = meaning(of: error)
            if case SQLiteStoreError.diskFull = failure { open.makeRoom() }
            // If one call has failed by itself, the others get another transaction.
            if let current {
                let others = taken.filter { $0 !== current }
                queue.withLock { $0.putBack(others) }
                taken = [current]
            }
            for call in taken {
                call.failed(failure)
                call.resume(leads: false)
            }
        }
    }

    /// Reads from the database, beside any transaction, on a worker of the caller's class.
    func read<Success: Sendable>(_ body: @escaping @Sendable (StoreRows) throws -> Success) async throws -> Success {
        try await QoS.withBlocking {
            do {
                return try self.open.pool.read { try body(StoreRows(database: $0)) }
            } catch let error as DatabaseError {
                guard self.open.isDisplaced else { throw self.meaning(of: error) }
                return try self.readDisplaced(body)
            }
        }
    }

    /// Reads after the file was removed. A connection to it cannot be opened any more, but the one that writes is open.
    private func readDisplaced<Success: Sendable>(_ body: (StoreRows) throws -> Success) throws -> Success {
        try writer.withLock { cache in
            do {
                let (pool, isOther) = try open.ready()
                if isOther { cache = StoreCache() }
                return try pool.writeWithoutTransaction { try body(StoreRows(database: $0)) }
            } catch {
                throw meaning(of: error)
            }
        }
    }

    private func meaning(of error: any Error) -> any Error {
        (error as? DatabaseError).map { file.meaning(of: $0) } ?? error
    }

    private func reached(_ moment: SQLiteStoreConfiguration.FailPoint.Moment, _ calls: [any PendingCall]) {
        file.settings.reached?(.init(moment: moment, calls: calls.map(\.name)))
    }
}
#endif
