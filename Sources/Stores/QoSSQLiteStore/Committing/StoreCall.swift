#if SQLite
internal import QoSKernel

/// A call that waits for its transaction, without its type.
protocol PendingCall: AnyObject, Sendable {
    /// The name, for fail points.
    var name: String { get }
    /// The rank of the caller's class; heartbeats go before all of them.
    var rank: Int { get }
    /// Whether the call's commit waits for the disk.
    var isSynced: Bool { get }
    /// Whether it has its answer.
    var hasEnded: Bool { get }

    /// Runs it in a transaction, and keeps its result. A refusal is a result. An error of the database is thrown.
    func run(in transaction: inout StoreTransaction) throws
    /// Lets it fail.
    func failed(_ error: any Error)
    /// Notes that its caller is to lead, before it is resumed.
    func markLeader()
    /// Answers the caller: with the kept result, or with the order to lead the next transaction.
    func resume(leads: Bool)
    /// Suspends the caller until it is resumed.
    ///
    /// - Returns: whether it leads.
    func wait() async -> Bool
}

/// A call that waits for its transaction.
final class StoreCall<Success: Sendable>: PendingCall {
    private struct State {
        var result: Result<Success, any Error>?
        /// Whether the result is acknowledged, or the caller is to lead.
        var hasEnded = false
        var leads = false
        var waiter: CheckedContinuation<Void, Never>?
    }

    let name: String
    let rank: Int
    let isSynced: Bool
    private let body: @Sendable (inout StoreTransaction) throws -> Success
    private let state = Lock(State())

    init(
        _ name: String, rank: Int, isSynced: Bool,
        _ body: @escaping @Sendable (inout StoreTransaction) throws -> Success
    ) {
        self.name = name
        self.rank = rank
        self.isSynced = isSynced
        self.body = body
    }

    var hasEnded: Bool { state.withLock { $0.hasEnded } }

    func run(in transaction: inout StoreTransaction) throws {
        let result: Result<Success, any Error>
        do {
            result = .success(try body(&transaction))
        } catch let error as WorkloadStoreError {
            result = .failure(error)
        }
        state.withLock { $0.result = result }
    }

    func failed(_ error: any Error) {
        state.withLock { $0.result = .failure(error) }
    }

    func markLeader() { state.withLock { $0.leads = true } }

    func resume(leads: Bool) {
        let waiter = state.withLock { state in
            defer { state.waiter = nil }
            if leads { state.leads = true } else { state.hasEnded = true }
            return state.waiter
        }
        waiter?.resume()
    }

    func wait() async -> Bool {
        await withCheckedContinuation { continuation in
            let isOver = state.withLock { state in
                if state.leads || state.hasEnded { return true }
                state.waiter = continuation
                return false
            }
            if isOver { continuation.resume() }
        }
        // Also if another leader has run the call meanwhile: the queue counts this caller as a leader until it is told.
        return state.withLock { $0.leads }
    }

    /// The result of a call that has ended.
    func take() throws -> Success {
        guard let result = state.withLock({ $0.result }) else {
            preconditionFailure("a call has ended without a result")
        }
        return try result.get()
    }
}
#endif
