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
        _ body: @Sendable (inout WorkloadTable, inout TableEffects) throws(WorkloadStoreError) -> Success
    ) throws(WorkloadStoreError) -> Success {
        typealias Answer = (Result<Success, WorkloadStoreError>, [AsyncStream<Void>.Continuation])
        let (result, watchers) = state.withLock { state -> Answer in
            var effects = TableEffects()
            let result: Result<Success, WorkloadStoreError>
            do throws(WorkloadStoreError) {
                result = .success(try body(&state.table, &effects))
            } catch {
                result = .failure(error)
            }
            return (result, effects.concernsHosts ? Array(state.watchers.values) : [])
        }
        for watcher in watchers { watcher.yield() }
        return try result.get()
    }

    /// Inserts items.
    public func insert(_ requests: [WorkloadRequest], at now: WallTime) async throws -> [WorkloadInsertion] {
        try event { table, effects throws(WorkloadStoreError) in try table.inserted(requests, at: now, &effects) }
    }

    /// Adds a dependency.
    public func addDependency(
        of child: WorkloadItemID, on parent: WorkloadItemID, at now: WallTime
    ) async throws {
        try event { table, effects throws(WorkloadStoreError) in
            try table.dependencyAdded(of: child, on: parent, at: now, &effects)
        }
    }

    /// Ends attempts, and claims items.
    public func exchange(_ exchange: HostExchange, at now: WallTime) async throws -> HostExchange.Answer {
        try event { table, effects throws(WorkloadStoreError) in table.exchanged(exchange, at: now, &effects) }
    }

    /// Renews leases.
    public func renew(_ leases: [WorkloadLease]) async throws -> [LeaseStanding] {
        try event { table, _ throws(WorkloadStoreError) in leases.map { table.renewed($0) } }
    }

    /// Keeps a checkpoint.
    public func save(
        _ checkpoint: [UInt8]?, _ progress: WorkloadProgress?, under lease: WorkloadLease
    ) async throws {
        try event { table, _ throws(WorkloadStoreError) in
            guard table.saved(checkpoint, progress, under: lease) else { throw .leaseLost(lease) }
        }
    }

    /// Keeps a remark.
    public func note(_ remark: String, under lease: WorkloadLease) async throws {
        try event { table, _ throws(WorkloadStoreError) in
            guard table.noted(remark, under: lease) else { throw .leaseLost(lease) }
        }
    }

    /// Returns the valid leases.
    public func leases() async throws -> [LeaseSighting] {
        try event { table, _ throws(WorkloadStoreError) in table.leases }
    }

    /// Takes a lease back.
    @discardableResult
    public func reclaim(_ sighting: LeaseSighting, because loss: LeaseLoss, at now: WallTime) async throws -> Bool {
        try event { table, effects throws(WorkloadStoreError) in
            table.leaseLost(sighting, because: loss, at: now, &effects)
        }
    }

    /// Raises an item.
    public func raise(_ item: WorkloadItemID, to level: QoSLevel) async throws {
        try event { table, effects throws(WorkloadStoreError) in try table.raised(item, to: level, &effects) }
    }

    /// Raises an awaited item.
    public func awaited(_ item: WorkloadItemID, at level: QoSLevel) async throws {
        try event { table, effects throws(WorkloadStoreError) in try table.awaited(item, at: level, &effects) }
    }

    /// Cancels an item.
    public func cancel(_ item: WorkloadItemID, because reason: String, at now: WallTime) async throws {
        try event { table, effects throws(WorkloadStoreError) in
            try table.cancelled(item, because: reason, at: now, &effects)
        }
    }

    /// Makes an item due.
    public func runNow(_ item: WorkloadItemID, at now: WallTime) async throws {
        try event { table, effects throws(WorkloadStoreError) in try table.runRequested(item, at: now, &effects) }
    }

    /// Notes a file event.
    public func noteFileChange(for item: WorkloadItemID, at now: WallTime) async throws {
        try event { table, effects throws(WorkloadStoreError) in try table.fileChanged(for: item, at: now, &effects) }
    }

    /// Pauses or resumes a workload.
    public func setPaused(_ name: WorkloadName, because reason: String?, at now: WallTime) async throws {
        try event { table, effects throws(WorkloadStoreError) in
            table.paused(name, because: reason, at: now, &effects)
        }
    }

    /// Returns the paused workloads.
    public func pauses() async throws -> [WorkloadName: String] {
        try event { table, _ throws(WorkloadStoreError) in table.pauses }
    }

    /// Returns an item.
    public func record(of item: WorkloadItemID) async throws -> WorkloadRecord? {
        try event { table, _ throws(WorkloadStoreError) in table.record(item) }
    }

    /// Returns a selection of items.
    public func records(matching query: WorkloadQuery) async throws -> [WorkloadRecord] {
        try event { table, _ throws(WorkloadStoreError) in table.records(matching: query) }
    }

    /// Returns the next due time.
    public func nextDue() async throws -> WallTime? {
        try event { table, _ throws(WorkloadStoreError) in table.nextDue() }
    }

    /// Counts the items.
    public func summary() async throws -> WorkloadSummary {
        try event { table, _ throws(WorkloadStoreError) in table.summary }
    }

    /// Returns failed attempts.
    public func attempts(of item: WorkloadItemID) async throws -> [WorkloadAttempt] {
        try event { table, _ throws(WorkloadStoreError) in table.history(of: item) }
    }

    /// Raises items that have been due for long.
    public func raiseOverdue(dueBefore time: WallTime) async throws {
        try event { table, effects throws(WorkloadStoreError) in table.overdueRaised(dueBefore: time, &effects) }
    }

    /// Removes ended items.
    @discardableResult
    public func removeEnded(before time: WallTime, in states: Set<WorkloadState>) async throws -> Int {
        try event { table, _ throws(WorkloadStoreError) in table.endedRemoved(before: time, in: states) }
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
