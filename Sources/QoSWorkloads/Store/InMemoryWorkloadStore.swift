public import QoSCore
internal import QoSKernel

/// A store in the memory of the process, for tests and for work that need not survive it.
///
/// Threading: any thread. No call suspends; each takes a lock for the time of one event of the table.
public final class InMemoryWorkloadStore: WorkloadStore {
    private struct State {
        var table = WorkloadTable()
        var watchers: [Int: AsyncStream<Void>.Continuation] = [:]
        var lastWatcher = 0
    }

    private let state = Lock(State())

    /// Makes an empty store.
    public init() {}

    /// Runs an event, and then tells the watchers if it concerns hosts.
    private func event<Success: Sendable>(
        _ body: @Sendable (inout WorkloadTable) throws -> Success
    ) throws -> Success {
        let (result, watchers) = state.withLock { state in
            (state.table.rules.hasNews, state.table.rules.hasRequests) = (false, false)
            state.table.rules.budget = state.table.rules.stepLimit
            let result = Result { try body(&state.table) }
            return (result, state.table.rules.concernsHosts ? Array(state.watchers.values) : [])
        }
        for watcher in watchers { watcher.yield() }
        return try result.get()
    }

    /// Inserts items.
    public func insert(_ requests: [WorkloadRequest], at now: WallTime) async throws -> [WorkloadInsertion] {
        try event { try $0.inserted(requests, at: now) }
    }

    /// Adds a dependency.
    public func addDependency(
        of child: WorkloadItemID, on parent: WorkloadItemID, at now: WallTime
    ) async throws {
        try event { try $0.dependencyAdded(of: child, on: parent, at: now) }
    }

    /// Ends attempts, and claims items.
    public func exchange(_ exchange: HostExchange, at now: WallTime) async throws -> HostExchange.Answer {
        try event { try $0.exchanged(exchange, at: now) }
    }

    /// Renews leases.
    public func renew(_ leases: [WorkloadLease]) async throws -> [LeaseStanding] {
        try event { try $0.renewed(leases) }
    }

    /// Keeps a checkpoint.
    public func save(
        _ checkpoint: [UInt8]?, _ progress: WorkloadProgress?, under lease: WorkloadLease
    ) async throws {
        try event { try $0.saved(checkpoint, progress, under: lease) }
    }

    /// Keeps a remark.
    public func note(_ remark: String, under lease: WorkloadLease) async throws {
        try event { try $0.noted(remark, under: lease) }
    }

    /// Returns the valid leases.
    public func leases() async throws -> [LeaseSighting] {
        try event { $0.leases }
    }

    /// Takes a lease back.
    @discardableResult
    public func reclaim(_ sighting: LeaseSighting, because loss: LeaseLoss, at now: WallTime) async throws -> Bool {
        try event { try $0.leaseLost(sighting, because: loss, at: now) }
    }

    /// Raises an item.
    public func raise(_ item: WorkloadItemID, to level: QoSLevel) async throws {
        try event { try $0.raised(item, to: level) }
    }

    /// Raises an awaited item.
    public func awaited(_ item: WorkloadItemID, at level: QoSLevel) async throws {
        try event { try $0.awaited(item, at: level) }
    }

    /// Cancels an item.
    public func cancel(_ item: WorkloadItemID, because reason: String, at now: WallTime) async throws {
        try event { try $0.cancelled(item, because: reason, at: now) }
    }

    /// Makes an item due.
    public func runNow(_ item: WorkloadItemID, at now: WallTime) async throws {
        try event { try $0.runRequested(item, at: now) }
    }

    /// Notes a file event.
    public func noteFileChange(for item: WorkloadItemID, at now: WallTime) async throws {
        try event { try $0.fileChanged(for: item, at: now) }
    }

    /// Pauses or resumes a workload.
    public func setPaused(_ name: WorkloadName, because reason: String?, at now: WallTime) async throws {
        try event { try $0.paused(name, because: reason, at: now) }
    }

    /// Returns the paused workloads.
    public func pauses() async throws -> [WorkloadName: String] {
        try event { $0.holds().mapValues(\.reason) }
    }

    /// Returns an item.
    public func record(of item: WorkloadItemID) async throws -> WorkloadRecord? {
        try event { try $0.record(item) }
    }

    /// Returns a selection of items.
    public func records(matching query: WorkloadQuery) async throws -> [WorkloadRecord] {
        try event { try $0.records(matching: query) }
    }

    /// Returns the next due time.
    public func nextDue() async throws -> WallTime? {
        try event { try $0.nextDue() }
    }

    /// Counts the items.
    public func summary() async throws -> WorkloadSummary {
        try event { $0.summary }
    }

    /// Returns failed attempts.
    public func attempts(of item: WorkloadItemID) async throws -> [WorkloadAttempt] {
        try event { $0.history(of: item) }
    }

    /// Raises items that have been due for long.
    public func raiseOverdue(dueBefore time: WallTime) async throws {
        try event { try $0.overdueRaised(dueBefore: time) }
    }

    /// Removes ended items.
    @discardableResult
    public func removeEnded(before time: WallTime, in states: Set<WorkloadState>) async throws -> Int {
        try event { try $0.endedRemoved(before: time, in: states).count }
    }

    /// Returns a stream of hints.
    public func changes() -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let number = state.withLock { state in
            state.lastWatcher += 1
            state.watchers[state.lastWatcher] = continuation
            return state.lastWatcher
        }
        continuation.onTermination = { [weak self] _ in
            let removed = self?.state.withLock { $0.watchers.removeValue(forKey: number) }
            _ = removed
        }
        return stream
    }
}
