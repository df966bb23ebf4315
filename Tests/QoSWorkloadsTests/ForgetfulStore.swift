import QoSCore
import QoSKernel
import QoSWorkloads

/// A store around one in memory that breaks a promise, or fails when a test says so.
final class ForgetfulStore: WorkloadStore {
    enum Fault: CaseIterable {
        case keepsOldFences
        case forgetsCheckpoints
        case forgetsRaises
        case forgetsCancellations
        case reclaimsAlways
        case losesBeats
        case forgetsPauses
        case forgetsFileEvents
        case forgetsProcesses
        case delaysAllLosses
    }

    struct Unavailable: Error {}

    /// The calls that fail.
    enum Call: Hashable {
        case renew
        case end
        case claim
        case save
        case noteFileChange
        case reclaim
    }

    let base: InMemoryWorkloadStore
    let fault: Fault?
    private let failing = Lock<Set<Call>>([])
    private let counts = Lock<[Call: Int]>([:])
    private let beforeClaim = Lock<(@Sendable () async throws -> Void)?>(nil)

    init(_ fault: Fault? = nil) {
        self.fault = fault
        base = InMemoryWorkloadStore()
    }

    /// The same items as another one, over a connection of its own.
    init(sharing other: ForgetfulStore) {
        fault = nil
        base = other.base
    }

    func fail(_ calls: Set<Call>) { failing.withLock { $0 = calls } }
    /// Runs a body right before the next claim.
    func onNextClaim(_ body: @escaping @Sendable () async throws -> Void) { beforeClaim.withLock { $0 = body } }
    func count(of call: Call) -> Int { counts.withLock { $0[call] ?? 0 } }

    private func check(_ call: Call) throws {
        counts.withLock { $0[call, default: 0] += 1 }
        if failing.withLock({ $0.contains(call) }) { throw Unavailable() }
    }

    func insert(_ requests: [WorkloadRequest], at now: WallTime) async throws -> [WorkloadInsertion] {
        try await base.insert(requests, at: now)
    }
    func addDependency(of child: WorkloadItemID, on parent: WorkloadItemID, at now: WallTime) async throws {
        try await base.addDependency(of: child, on: parent, at: now)
    }
    func claim(_ request: ClaimRequest, at now: WallTime) async throws -> WorkloadClaim? {
        try check(.claim)
        let body = beforeClaim.withLock { body in
            defer { body = nil }
            return body
        }
        try await body?()
        return try await base.claim(request, at: now)
    }
    func renew(_ leases: [WorkloadLease]) async throws -> [LeaseStanding] {
        try check(.renew)
        return fault == .losesBeats ? try await base.standings(of: leases) : try await base.renew(leases)
    }
    func standings(of leases: [WorkloadLease]) async throws -> [LeaseStanding] { try await base.standings(of: leases) }
    func save(_ checkpoint: [UInt8]?, _ progress: WorkloadProgress?, under lease: WorkloadLease) async throws {
        try check(.save)
        if fault == .forgetsCheckpoints { return try await base.save(nil, progress, under: lease) }
        do { try await base.save(checkpoint, progress, under: lease) } catch {
            guard fault == .keepsOldFences,
                let now = try await base.leases().first(where: { $0.lease.item == lease.item })
            else { throw error }
            try await base.save(checkpoint, progress, under: now.lease)
        }
    }
    func note(_ remark: String, under lease: WorkloadLease) async throws { try await base.note(remark, under: lease) }
    func end(_ lease: WorkloadLease, _ result: AttemptResult, at now: WallTime) async throws -> WorkloadState {
        try check(.end)
        return try await base.end(lease, result, at: now)
    }
    func leases() async throws -> [LeaseSighting] {
        let leases = try await base.leases()
        guard fault == .forgetsProcesses else { return leases }
        return leases.map { LeaseSighting(lease: $0.lease, beat: $0.beat, host: $0.host) }
    }
    func reclaim(_ sighting: LeaseSighting, because loss: LeaseLoss, at now: WallTime) async throws -> Bool {
        try check(.reclaim)
        let loss = fault == .delaysAllLosses ? .expired : loss
        guard fault == .reclaimsAlways,
            let current = try await base.leases().first(where: { $0.lease.item == sighting.lease.item })
        else { return try await base.reclaim(sighting, because: loss, at: now) }
        return try await base.reclaim(current, because: loss, at: now)
    }
    func raise(_ item: WorkloadItemID, to level: QoSLevel) async throws {
        if fault != .forgetsRaises { try await base.raise(item, to: level) }
    }
    func awaited(_ item: WorkloadItemID, at level: QoSLevel) async throws { try await base.awaited(item, at: level) }
    func cancel(_ item: WorkloadItemID, because reason: String, at now: WallTime) async throws {
        if fault != .forgetsCancellations { try await base.cancel(item, because: reason, at: now) }
    }
    func runNow(_ item: WorkloadItemID, at now: WallTime) async throws { try await base.runNow(item, at: now) }
    func noteFileChange(for item: WorkloadItemID, at now: WallTime) async throws {
        try check(.noteFileChange)
        if fault != .forgetsFileEvents { try await base.noteFileChange(for: item, at: now) }
    }
    func setPaused(_ name: WorkloadName, because reason: String?, at now: WallTime) async throws {
        if fault != .forgetsPauses { try await base.setPaused(name, because: reason, at: now) }
    }
    func pauses() async throws -> [WorkloadName: String] { try await base.pauses() }
    func record(of item: WorkloadItemID) async throws -> WorkloadRecord? { try await base.record(of: item) }
    func records(matching query: WorkloadQuery) async throws -> [WorkloadRecord] {
        try await base.records(matching: query)
    }
    func nextDue() async throws -> WallTime? { try await base.nextDue() }
    func summary() async throws -> WorkloadSummary { try await base.summary() }
    func attempts(of item: WorkloadItemID) async throws -> [WorkloadAttempt] { try await base.attempts(of: item) }
    func raiseOverdue(dueBefore time: WallTime) async throws { try await base.raiseOverdue(dueBefore: time) }
    func removeEnded(before time: WallTime, in states: Set<WorkloadState>) async throws -> Int {
        try await base.removeEnded(before: time, in: states)
    }
    func changes() -> AsyncStream<Void> { base.changes() }
}
