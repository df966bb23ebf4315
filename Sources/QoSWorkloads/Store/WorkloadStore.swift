public import QoSCore

/// A place that keeps items, and decides what runs next.
///
/// A store may serve several hosts, in several processes. Each call is one transaction: it happens whole or not at all,
/// and what it acknowledges survives the process if the store is durable. A store has no clock: callers pass the time.
/// `Docs/Inside/Protocols/workloads.md` says what each call
/// means; `WorkloadStoreConformance` in `QoSWorkloadsTesting` checks it.
///
/// Threading: any thread.
public protocol WorkloadStore: Sendable {
    /// Inserts items: all of them, or none. The answers are in the order of the requests.
    ///
    /// - Throws: ``WorkloadStoreError`` for a circle, an unknown item or label, or a schedule that cannot be kept.
    func insert(_ requests: [WorkloadRequest], at now: WallTime) async throws -> [WorkloadInsertion]

    /// Makes a waiting item depend on another one, and raises that one (rule O5).
    ///
    /// - Throws: ``WorkloadStoreError`` for a circle, an unknown item, or an item that has started.
    func addDependency(of child: WorkloadItemID, on parent: WorkloadItemID, at now: WallTime) async throws

    /// Ends attempts, and then claims items under new leases: all that a host does at one look, in one transaction.
    ///
    /// An end under a lost lease changes nothing, and touches no other one. The answer says so. What a claim alone
    /// changes may be lost with the machine's power: the items then have no leases, as before.
    func exchange(_ exchange: HostExchange, at now: WallTime) async throws -> HostExchange.Answer

    /// Renews leases. The answers are in the order of the leases.
    func renew(_ leases: [WorkloadLease]) async throws -> [LeaseStanding]

    /// Keeps a checkpoint and a progress; `nil` leaves the old one.
    ///
    /// - Throws: ``WorkloadStoreError/leaseLost(_:)``. Nothing is kept then.
    func save(_ checkpoint: [UInt8]?, _ progress: WorkloadProgress?, under lease: WorkloadLease) async throws

    /// Keeps a remark about the attempt in the item's reason, for people.
    ///
    /// - Throws: ``WorkloadStoreError/leaseLost(_:)``.
    func note(_ remark: String, under lease: WorkloadLease) async throws

    /// Returns the valid leases of all hosts.
    func leases() async throws -> [LeaseSighting]

    /// Ends the attempt of a host that has lost its lease, unless it has renewed the lease since the sighting.
    ///
    /// A first attempt that ended with its process is repeated at once, and any other after the delay of a retry.
    ///
    /// - Returns: whether the attempt was ended; `false` if the lease was renewed or given back.
    @discardableResult
    func reclaim(_ sighting: LeaseSighting, because loss: LeaseLoss, at now: WallTime) async throws -> Bool

    /// Raises an item, its dependents, and the dependencies of all of these (rules O5, O6).
    ///
    /// - Throws: ``WorkloadStoreError`` for an item that is unknown or has ended.
    func raise(_ item: WorkloadItemID, to level: QoSLevel) async throws

    /// Raises an item and its dependencies to the level of a waiter (rule O9).
    ///
    /// - Throws: ``WorkloadStoreError`` for an item that is unknown or has ended.
    func awaited(_ item: WorkloadItemID, at level: QoSLevel) async throws

    /// Cancels an item. A running one ends with its attempt, and a repeating one has no further runs.
    ///
    /// - Throws: ``WorkloadStoreError`` for an item that is unknown or has ended.
    func cancel(_ item: WorkloadItemID, because reason: String, at now: WallTime) async throws

    /// Makes an item due now, whatever its schedule and conditions say. A dead item gets its attempts back. The items
    /// that were cancelled because of it wait for it again, unless another lost parent or their unique key forbids it.
    ///
    /// - Throws: ``WorkloadStoreError`` for an item that is unknown, finished or cancelled, and for a dead one whose
    ///   unique key another item has by now.
    func runNow(_ item: WorkloadItemID, at now: WallTime) async throws

    /// Notes a change of the files that an item waits for.
    ///
    /// - Throws: ``WorkloadStoreError`` for an item that is unknown or has ended.
    func noteFileChange(for item: WorkloadItemID, at now: WallTime) async throws

    /// Pauses a workload for a reason, or resumes it with `nil`. Running items are asked to defer.
    func setPaused(_ name: WorkloadName, because reason: String?, at now: WallTime) async throws

    /// Returns the paused workloads with their reasons.
    func pauses() async throws -> [WorkloadName: String]

    /// Returns an item; `nil` for an unknown one.
    func record(of item: WorkloadItemID) async throws -> WorkloadRecord?

    /// Returns a selection of items.
    func records(matching query: WorkloadQuery) async throws -> [WorkloadRecord]

    /// Returns the time at which the next item is due; `nil` if no item waits for its time.
    func nextDue() async throws -> WallTime?

    /// Returns the number of items by class and state, however many they are.
    func summary() async throws -> WorkloadSummary

    /// Returns the last attempts of an item that have failed, in order, 20 at most; empty for an unknown item.
    func attempts(of item: WorkloadItemID) async throws -> [WorkloadAttempt]

    /// Raises the items with a relative priority that wait for a host, and have been due since before a time, to the
    /// level of their class. So a steady stream of higher ones does not pass them by for ever. A host calls it each
    /// minute.
    func raiseOverdue(dueBefore time: WallTime) async throws

    /// Removes the items that ended in one of some states before a time.
    ///
    /// - Returns: their number.
    @discardableResult
    func removeEnded(before time: WallTime, in states: Set<WorkloadState>) async throws -> Int

    /// Returns a stream with an element after changes that hosts or waiters may care about: an item may start, it ended,
    /// or it waits for a time or for files.
    ///
    /// An element is a hint to look, no message: several changes may give one element, and a change of another process
    /// may give one late. Each call returns a stream of its own.
    func changes() -> AsyncStream<Void>

    /// The reason why changes of other processes give late hints; `nil` if they give one at once, or if no other process
    /// has the store. Known after the first call of ``changes()``.
    var lateHints: LateHints? { get }
}

extension WorkloadStore {
    /// `nil`.
    public var lateHints: LateHints? { nil }
}

/// The reason why the hints of a store come late.
public struct LateHints: Sendable, Hashable {
    /// The failure, with its remedy.
    public var reason: String
    /// The time between two looks for changes that gave no hint.
    public var interval: Duration

    /// Makes a reason.
    public init(reason: String, interval: Duration) {
        self.reason = reason
        self.interval = interval
    }
}

extension WorkloadStore {
    /// Removes the items that ended before a time, in whatever state.
    ///
    /// - Returns: their number.
    @discardableResult
    public func removeEnded(before time: WallTime) async throws -> Int {
        try await removeEnded(before: time, in: [.finished, .cancelled, .dead])
    }
}

extension WorkloadStore {
    /// Gives a host its next item, under a new lease; `nil` if none can run.
    public func claim(_ request: ClaimRequest, at now: WallTime) async throws -> WorkloadClaim? {
        var request = request
        request.limit = 1
        return try await exchange(HostExchange(claim: request), at: now).claims.first
    }

    /// Ends an attempt.
    ///
    /// - Returns: the state of the item.
    /// - Throws: ``WorkloadStoreError/leaseLost(_:)``. The item does not change then.
    @discardableResult
    public func end(_ lease: WorkloadLease, _ result: AttemptResult, at now: WallTime) async throws -> WorkloadState {
        let answer = try await exchange(HostExchange(ends: [AttemptEnd(lease, result)]), at: now)
        guard let state = answer.ends.first ?? nil else { throw WorkloadStoreError.leaseLost(lease) }
        return state
    }

    /// Returns the standings of leases without renewing them, in their order.
    public func standings(of leases: [WorkloadLease], at now: WallTime) async throws -> [LeaseStanding] {
        let answer = try await exchange(HostExchange(leases: leases), at: now)
        return leases.map { answer.standings[$0] ?? .lost }
    }
}
