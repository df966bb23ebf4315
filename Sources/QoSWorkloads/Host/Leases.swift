internal import QoSCore
internal import QoSKernel

// The leases of a host: how it keeps its own ones, and how it finds those that others have lost.
//
// Docs/Inside/Protocols/workloads.md#leases has the protocol. A lease has no time in the store, only a beat.
//
//     claim ─┬─ ⅓ renew ─┬─ ⅓ renew … no answer …─ ⅘ cut off ─┬─ 1 another host may take the lease back
//            └ LeaseBook: when to renew, when to cut off       └ LeaseWatch of another host: the same beat for so long
//
// 1. A claim gives leases. `LeaseKeeper` notes them in its `LeaseBook`, with the time before the claim.
// 2. One of its two threads keeps the times: it asks the book what to renew, and which attempts to cut off.
// 3. The other thread renews. A renewal that blocks it keeps no attempt running whose lease is over.
// 4. `LeaseWatch` has the leases of all hosts. A beat that stands still for the whole duration is a lost lease, and so is
//    a process that has ended. The host takes these leases back.
//
// Both values go by the monotonic clock of their own host. The holder counts from before its renewal, and stops at four
// fifths. So it stops before another host can take its lease.

/// Keeps the leases of a host's attempts.
///
/// It renews leases, cancels attempts whose lease is about to end, and enforces time limits. No work can starve it: it
/// has two threads of its own. One keeps the times, and the other one renews. So a renewal that blocks its thread does
/// not keep an attempt running whose lease is over.
///
/// Most attempts end long before their first renewal. So a new attempt wakes the keeper only if something of it is due
/// before the keeper wakes anyway, and an ended one never.
///
/// Threading: any thread.
final class LeaseKeeper: Sendable {
    private struct State {
        var book: LeaseBook
        var attempts: [WorkloadLease: Attempt] = [:]
        /// The leases to renew that the task which renews has not taken yet.
        var due: [WorkloadLease] = []
        /// The time until which the keeper sleeps; `nil` while it sleeps until it is woken.
        var sleepsUntil: Duration?
        var actions: Actions?
        var isClosed = false
    }

    /// The actions that the keeper asks of its host.
    struct Actions: Sendable {
        /// The lease is lost.
        var lost: @Sendable (Attempt) -> Void
        /// The attempt did not end after its cancellation.
        var overran: @Sendable (Attempt) -> Void
        /// The terms of a lease came with its renewal.
        var terms: @Sendable (Attempt, LeaseTerms) -> Void
    }

    private let state: Lock<State>
    private let wakeSignal: WakeSignal
    private let renewals: WakeSignal
    private let services: AttemptServices
    /// The threads for the times, and for the renewals.
    private let (times, calls): (any WorkloadScheduler, any WorkloadScheduler)
    private let cancelGrace: Duration

    init(
        _ configuration: WorkloadHost.Configuration, _ services: AttemptServices, _ scheduler: any WorkloadScheduler
    ) {
        state = Lock(State(book: LeaseBook(duration: configuration.leaseDuration)))
        cancelGrace = configuration.cancelGrace
        times = scheduler.makeReservedThread(name: "qos-beats")
        calls = scheduler.makeReservedThread(name: "qos-renewals")
        wakeSignal = WakeSignal(services.clock, times, at: .userInteractive)
        renewals = WakeSignal(services.clock, calls, at: .userInteractive)
        self.services = services
    }

    /// Begins, once, before the first attempt.
    func start(_ actions: Actions) {
        state.withLock { $0.actions = actions }
        times.startWorkload(at: .userInteractive, name: "workload-leases") { await self.beat() }
        calls.startWorkload(at: .userInteractive, name: "workload-renewals") { await self.renewAll() }
    }

    /// Adds attempts whose leases have just begun.
    func add(_ attempts: [Attempt]) {
        let wakes = state.withLock { state in
            for attempt in attempts {
                state.attempts[attempt.lease] = attempt
                state.book.leased(attempt.lease, begin: attempt.begin)
            }
            let first = attempts.compactMap(\.deadline).min()
            guard let next = [first, state.book.next].compactMap({ $0 }).min() else { return false }
            return state.sleepsUntil.map { next < $0 } ?? true
        }
        if wakes { wakeSignal.wake() }
    }

    /// Forgets attempts.
    func remove(_ leases: [WorkloadLease]) {
        guard !leases.isEmpty else { return }
        state.withLock { state in
            for lease in leases {
                state.attempts[lease] = nil
                state.book.ended(lease)
            }
        }
    }

    /// Looks at the attempts again: one of them has begun late.
    func look() { wakeSignal.wake() }

    func close() {
        state.withLock { $0.isClosed = true }
        wakeSignal.wake()
        renewals.wake()
    }

    private func beat() async {
        while !state.withLock({ $0.isClosed }) {
            let now = services.clock.elapsed
            let (cut, due) = state.withLock { state in
                let (cut, due) = (state.book.cutoffs(at: now), state.book.renewalsDue(at: now))
                state.due += due
                // What comes from now on may be missing in the time that follows.
                state.sleepsUntil = nil
                return (cut, due)
            }
            for lease in cut { lose(lease) }
            if !due.isEmpty { renewals.wake() }
            let limit = enforceTimeLimits(at: now)
            let next = state.withLock { state in
                state.sleepsUntil = [limit, state.book.next].compactMap { $0 }.min()
                return state.sleepsUntil
            }
            await wakeSignal.wait(until: next)
        }
        wakeSignal.close()
    }

    /// Renews what is due, until the end. One renewal does not wait for another one's answer.
    private func renewAll() async {
        await withDiscardingTaskGroup { group in
            while !state.withLock({ $0.isClosed }) {
                let due = state.withLock { state in
                    defer { state.due = [] }
                    return state.due
                }
                if !due.isEmpty { group.addTask { await self.renew(due) } }
                await renewals.wait(until: nil)
            }
        }
        renewals.close()
    }

    private func renew(_ leases: [WorkloadLease]) async {
        var standings: [LeaseStanding]?
        do {
            standings = try await services.store.renew(leases)
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
                if let attempt { actions?.terms(attempt, terms) }
            case .lost: lose(lease)
            case nil: break
            }
        }
        wakeSignal.wake()
        // Last: each is a transaction, and the leases are renewed whether these are quick or not.
        guard standings != nil else { return }
        do {
            for lease in leases { try await saveProgress(of: lease) }
        } catch {
            services.observe(.storeFailed("progress: \(error)"))
        }
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

    private var actions: Actions? { state.withLock { $0.actions } }

    private func lose(_ lease: WorkloadLease) {
        let attempt = state.withLock { state in
            _ = state.book.ended(lease)
            return state.attempts.removeValue(forKey: lease)
        }
        if let attempt { actions?.lost(attempt) }
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
                    actions?.overran(attempt)
                    continue
                }
            }
            next = min(next ?? event, event)
        }
        return next
    }
}

/// The leases of a host: when to renew them, and when to stop work because a renewal is missing.
///
/// A value. Times are those of the host's monotonic clock. A lease is valid for the lease duration from the moment
/// *before* its last successful renewal began.
package struct LeaseBook: Sendable {
    private struct Page: Sendable {
        let lease: WorkloadLease
        /// The begin of the last successful renewal, or of the claim.
        var valid: Duration
        /// The time of the next renewal.
        var renewal: Duration
        /// When the renewal in flight began.
        var renewing: Duration?
        var isCutOff = false
    }

    private let duration: Duration
    private var pages: [WorkloadItemID: Page] = [:]

    /// Makes a book without leases.
    package init(duration: Duration) {
        self.duration = duration
    }

    /// Whether it has no lease.
    package var isEmpty: Bool { pages.isEmpty }

    /// Notes a lease. `begin` is the time before the claim, or before the last successful renewal.
    package mutating func leased(_ lease: WorkloadLease, begin: Duration) {
        pages[lease.item] = Page(lease: lease, valid: begin, renewal: begin + Self.whole(duration / 3))
    }

    /// Notes that a lease was given back, or is kept by another book.
    ///
    /// - Returns: the begin of its last successful renewal; `nil` for an unknown one.
    @discardableResult
    package mutating func ended(_ lease: WorkloadLease) -> Duration? {
        guard let page = pages[lease.item], page.lease == lease else { return nil }
        pages[lease.item] = nil
        return page.valid
    }

    /// Takes the leases to renew now, and notes that their renewal begins.
    package mutating func renewalsDue(at now: Duration) -> [WorkloadLease] {
        var due: [WorkloadLease] = []
        for (item, page) in pages where page.renewing == nil && page.renewal <= now && !page.isCutOff {
            pages[item]?.renewing = now
            due.append(page.lease)
        }
        return due.sorted { $0.item < $1.item }
    }

    /// Notes the end of a renewal: whether it succeeded, failed, or the lease is lost.
    ///
    /// A failed one is repeated after a ninth of the duration.
    package mutating func renewalEnded(_ lease: WorkloadLease, succeeded: Bool, at now: Duration) {
        guard let page = pages[lease.item], page.lease == lease, let begin = page.renewing else { return }
        pages[lease.item]?.renewing = nil
        if succeeded {
            pages[lease.item]?.valid = begin
            pages[lease.item]?.renewal = begin + Self.whole(duration / 3)
        } else {
            pages[lease.item]?.renewal = now + Self.whole(duration / 9)
        }
    }

    /// Takes the leases whose attempts must stop: four fifths of the duration have passed without a renewal.
    package mutating func cutoffs(at now: Duration) -> [WorkloadLease] {
        let due = pages.values.filter { !$0.isCutOff && $0.valid + Self.limit(of: duration) <= now }
        for page in due { pages[page.lease.item]?.isCutOff = true }
        return due.map(\.lease).sorted { $0.item < $1.item }
    }

    /// The time of the next renewal or cutoff; `nil` without one.
    package var next: Duration? {
        pages.values.filter { !$0.isCutOff }.map { page in
            let cutoff = page.valid + Self.limit(of: duration)
            return page.renewing == nil ? min(cutoff, page.renewal) : cutoff
        }.min()
    }

    private static func limit(of duration: Duration) -> Duration { whole(duration * 4 / 5) }

    /// Rounds down to nanoseconds, so that a clock that counts them can reach the time.
    private static func whole(_ duration: Duration) -> Duration { .nanoseconds(duration.schedulerNanoseconds) }
}

/// The leases of other hosts, as one host sees them: which of them have not been renewed for a lease duration, or
/// belong to a process that has ended.
///
/// A value. Times are those of the observer's monotonic clock, so no clock that is set matters.
package struct LeaseWatch: Sendable {
    private struct Sight: Sendable {
        var sighting: LeaseSighting
        var since: Duration
    }

    private let duration: Duration
    private var sights: [WorkloadItemID: Sight] = [:]
    private var lastLook: Duration?
    /// Whether a change came too soon after a look.
    private var hasSkipped = false

    /// Makes a watch without sightings.
    package init(duration: Duration) {
        self.duration = duration
    }

    /// Asks after a change whether to look now. A look costs a read of the store, so they are a quarter of the duration
    /// apart. A change that comes sooner leads to a look later.
    package mutating func isLookDue(at now: Duration) -> Bool {
        hasSkipped = lastLook.map { now - $0 < duration / 4 } ?? false
        return !hasSkipped
    }

    /// Notes the leases of a look. Those that are missing are forgotten.
    ///
    /// - Parameter isGone: whether a process has ended for certain.
    /// - Returns: the leases that their holders have lost: the process has ended, or the beat has not changed for the
    ///   duration.
    package mutating func looked(
        _ leases: [LeaseSighting], at now: Duration, isGone: (String) -> Bool
    ) -> [(sighting: LeaseSighting, loss: LeaseLoss)] {
        lastLook = now
        var seen: [WorkloadItemID: Sight] = [:]
        var lost: [(sighting: LeaseSighting, loss: LeaseLoss)] = []
        // A process may hold many leases.
        var answers: [String: Bool] = [:]
        for sighting in leases {
            var sight = Sight(sighting: sighting, since: now)
            if let old = sights[sighting.lease.item], old.sighting == sighting { sight = old }
            seen[sighting.lease.item] = sight
            let isGone = sighting.process.map { process in
                let answer = answers[process] ?? isGone(process)
                answers[process] = answer
                return answer
            }
            if isGone == true {
                lost.append((sighting, .processEnded))
            } else if now - sight.since >= duration {
                lost.append((sighting, .expired))
            }
        }
        sights = seen
        return lost
    }

    /// The time of the next look; `nil` while no other host is known to have a lease.
    package var nextLook: Duration? {
        guard let lastLook else { return nil }
        let earliest = lastLook + duration / 4
        if hasSkipped { return earliest }
        guard let first = sights.values.map(\.since).min() else { return nil }
        return max(min(first + duration, lastLook + duration / 2), earliest)
    }
}
