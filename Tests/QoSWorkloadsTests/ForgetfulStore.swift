import QoSCore
import QoSKernel
import QoSWorkloads
import Synchronization

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
        case claimsOne
        case endsFirstOnly
        case claimsBeforeEnds
        case tellsNoTerms
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
    private let broken = Lock<Set<WorkloadItemID>>([])
    private let whileExchanging = Lock<(@Sendable () async throws -> Void)?>(nil)
    /// The number of renewals. Threads that spin for it keep no lock from others.
    let renewals = Atomic(0)
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
    /// Runs a body within each exchange.
    func onExchanges(_ body: @escaping @Sendable () async throws -> Void) { whileExchanging.withLock { $0 = body } }
    /// Lets each call fail that ends an attempt of one of these items.
    func breakEnds(of items: Set<WorkloadItemID>) { broken.withLock { $0 = items } }
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
    func exchange(_ exchange: HostExchange, at now: WallTime) async throws -> HostExchange.Answer {
        if !exchange.ends.isEmpty { try check(.end) }
        if exchange.claim != nil {
            try check(.claim)
            let body = beforeClaim.withLock { body in
                defer { body = nil }
                return body
            }
            try await body?()
        }
        try await whileExchanging.withLock { $0 }?()
        for end in exchange.ends where broken.withLock({ $0.contains(end.lease.item) }) { throw Unavailable() }
        switch fault {
        case .claimsOne:
            var exchange = exchange
            exchange.claim?.limit = 1
            return try await base.exchange(exchange, at: now)
        case .endsFirstOnly:
            var first = exchange
            first.ends = Array(exchange.ends.prefix(1))
            var answer = try await base.exchange(first, at: now)
            answer.ends += exchange.ends.dropFirst().map { _ in nil }
            return answer
        case .claimsBeforeEnds:
            var claim = exchange
            claim.ends = []
            let claims = try await base.exchange(claim, at: now).claims
            var ends = exchange
            ends.claim = nil
            var answer = try await base.exchange(ends, at: now)
            answer.claims = claims
            return answer
        case .tellsNoTerms:
            var answer = try await base.exchange(exchange, at: now)
            if exchange.mark != nil { answer.standings = [:] }
            return answer
        default: return try await base.exchange(exchange, at: now)
        }
    }
    func renew(_ leases: [WorkloadLease]) async throws -> [LeaseStanding] {
        try check(.renew)
        renewals.add(1, ordering: .relaxed)
        return fault == .losesBeats
            ? try await base.standings(of: leases, at: .distantFuture) : try await base.renew(leases)
    }
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
