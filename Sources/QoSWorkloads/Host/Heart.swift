internal import QoSCore
internal import QoSKernel

/// The heartbeats of a host's attempts of one class. It runs one class above them, so they cannot starve it.
///
/// It renews leases, cancels attempts whose lease is about to end, and enforces time limits. A renewal that hangs does
/// not stop it.
///
/// Threading: any thread.
final class Heart: Sendable {
    private struct State {
        var book: LeaseBook
        var attempts: [WorkloadLease: Attempt] = [:]
        var isClosed = false
    }

    /// The actions that the heart asks of its host.
    struct Actions: Sendable {
        /// The lease is lost.
        var lost: @Sendable (Attempt) -> Void
        /// The attempt did not end after its cancellation.
        var overran: @Sendable (Attempt) -> Void
        /// The terms of a lease came with its renewal.
        var terms: @Sendable (Attempt, LeaseTerms) -> Void
    }

    private let state: Lock<State>
    private let alarm: Alarm
    private let services: AttemptServices
    private let scheduler: any WorkloadScheduler
    private let actions: Actions
    private let cancelGrace: Duration
    /// The class of the heart itself.
    private let qosClass: QoSClass

    init(
        forWorkAt workClass: QoSClass, _ configuration: WorkloadHost.Configuration, _ services: AttemptServices,
        _ scheduler: any WorkloadScheduler, _ actions: Actions
    ) {
        qosClass = QoSClass(rank: workClass.rank + 1) ?? .userInteractive
        state = Lock(State(book: LeaseBook(duration: configuration.leaseDuration)))
        cancelGrace = configuration.cancelGrace
        alarm = Alarm(services.clock, scheduler, at: qosClass)
        self.services = services
        self.scheduler = scheduler
        self.actions = actions
        scheduler.startWorkload(at: qosClass, name: "workload-heart") { await self.beat() }
    }

    func add(_ attempt: Attempt, begin: Duration) {
        state.withLock { state in
            state.attempts[attempt.lease] = attempt
            state.book.leased(attempt.lease, begin: begin)
        }
        alarm.ring()
    }

    /// Forgets an attempt.
    ///
    /// - Returns: the begin of the last successful renewal; `nil` for an unknown one.
    @discardableResult
    func remove(_ lease: WorkloadLease) -> Duration? {
        let begin = state.withLock { state in
            state.attempts[lease] = nil
            return state.book.ended(lease)
        }
        alarm.ring()
        return begin
    }

    /// Looks at the attempts again: one of them has begun late.
    func look() { alarm.ring() }

    func close() {
        state.withLock { $0.isClosed = true }
        alarm.ring()
    }

    private func beat() async {
        while !state.withLock({ $0.isClosed }) {
            let now = services.clock.elapsed
            let (cut, due) = state.withLock { ($0.book.cutoffs(at: now), $0.book.renewalsDue(at: now)) }
            for lease in cut { lose(lease) }
            if !due.isEmpty {
                scheduler.startWorkload(at: qosClass, name: "workload-renewal") { await self.renew(due) }
            }
            let limit = enforceTimeLimits(at: now)
            let next = [limit, state.withLock { $0.book.next }].compactMap { $0 }.min()
            await alarm.wait(until: next)
        }
        alarm.close()
    }

    private func renew(_ leases: [WorkloadLease]) async {
        var standings: [LeaseStanding]?
        do {
            standings = try await services.store.renew(leases)
            for lease in leases { try await saveProgress(of: lease) }
        } catch {
            services.observe(.storeFailed("renewal: \(error)"))
        }
        let now = services.clock.elapsed
        for (index, lease) in leases.enumerated() {
            let standing = standings?[index]
            state.withLock { $0.book.renewalEnded(lease, succeeded: standing != nil, at: now) }
            switch standing {
            case .held(let terms):
                let attempt = state.withLock { $0.attempts[lease] }
                if let attempt { actions.terms(attempt, terms) }
            case .lost: lose(lease)
            case nil: break
            }
        }
        alarm.ring()
    }

    private func saveProgress(of lease: WorkloadLease) async throws {
        let progress = state.withLock { $0.attempts[lease] }?.state.withLock { $0.progress }
        guard let progress else { return }
        do {
            try await services.store.save(nil, progress, under: lease)
        } catch WorkloadStoreError.leaseLost {
            // The renewal says so, too.
        }
    }

    private func lose(_ lease: WorkloadLease) {
        let attempt = state.withLock { state in
            _ = state.book.ended(lease)
            return state.attempts.removeValue(forKey: lease)
        }
        if let attempt { actions.lost(attempt) }
    }

    /// Cancels attempts whose time is up, and gives up those that go on nevertheless.
    ///
    /// - Returns: the time of the next such event.
    private func enforceTimeLimits(at now: Duration) -> Duration? {
        let attempts = state.withLock { Array($0.attempts.values) }
        var next: Duration?
        for attempt in attempts {
            guard let deadline = attempt.deadline, let limit = attempt.timeLimit else { continue }
            let overrun = attempt.state.withLock { state in
                if state.overrun == nil, deadline <= now { state.overrun = now }
                return state.overrun
            }
            var event = deadline
            if let overrun {
                if overrun == now {
                    attempt.cancel(because: "\(WorkloadHostError.timeLimitPassed(limit))")
                }
                event = overrun + cancelGrace
                if event <= now {
                    actions.overran(attempt)
                    continue
                }
            }
            next = min(next ?? event, event)
        }
        return next
    }
}
