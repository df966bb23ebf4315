internal import QoSCore
internal import QoSKernel

extension WorkloadHost {
    /// The largest number of ends, and of claims, in one call of the store. Heartbeats wait for a call that runs.
    static let batchSize = 64

    /// The host's own task, from the begin of ``run()`` to its end.
    func control() async {
        leaseKeeper.start(
            LeaseKeeper.Actions(
                lost: { [weak self] in self?.lost($0) }, overran: { [weak self] in self?.abandon($0) },
                terms: { [weak self] in self?.apply($1, to: $0) }))
        let fileEvents = startFileEventWatcher()
        let hints = forward(store.changes(), "workload-changes") { fileEvents?.itemsMayHaveChanged() }
        if let late = store.lateHints {
            services.observe(.hintsLate(because: late.reason, lookingEvery: late.interval))
        }
        let conditions = forward(configuration.conditions.changes(), "workload-conditions") {}
        var watch = LeaseWatch(duration: configuration.leaseDuration)
        var watched: [String: Task<Void, Never>] = [:]
        var upkeep = Upkeep()
        var mark: TermsMark?
        var failures = 0
        while state.withLock({ $0.phase == .running }) {
            var next: Duration?
            do {
                next = try await pass(&watch, &watched, &mark, &upkeep)
                if failures > 0 { state.withLock { $0.storeFailure = nil } }
                failures = 0
            } catch {
                state.withLock { $0.storeFailure = error }
                services.observe(.storeFailed("\(error)"))
                failures += 1
                next = clock.elapsed + min(.seconds(5), Self.delay(after: failures))
            }
            await wakeSignal.wait(until: next)
        }
        fileEvents?.close()
        await end()
        wakeSignal.close()
        for task in watched.values { task.cancel() }
        hints.cancel()
        conditions.cancel()
    }

    private func forward(
        _ changes: AsyncStream<Void>, _ name: String, _ more: @escaping @Sendable () -> Void
    ) -> Task<Void, Never> {
        let wakeSignal = self.wakeSignal
        return scheduler.startWorkload(at: Self.controlClass, name: name) {
            for await _ in changes {
                wakeSignal.wake()
                more()
            }
        }
    }

    /// Watches the files of the store's items on file events.
    private func startFileEventWatcher() -> FileEventWatcher? {
        guard let files = configuration.files, !runners.isEmpty else { return nil }
        let wakeSignal = self.wakeSignal
        let fileEvents = FileEventWatcher(
            files, of: Set(runners.keys), services, scheduler, pollInterval: configuration.fileLookInterval
        ) { wakeSignal.wake() }
        scheduler.startWorkload(at: Self.controlClass, name: "workload-files") { await fileEvents.run() }
        return fileEvents
    }

    /// Does all that can be done now.
    ///
    /// - Returns: the time by which another pass may have something to do; `nil` to wait for a hint alone. A host looks
    ///   at the wall clock from time to time while something waits for it, because no event reports that it was set.
    private func pass(
        _ watch: inout LeaseWatch, _ watched: inout [String: Task<Void, Never>], _ mark: inout TermsMark?,
        _ upkeep: inout Upkeep
    ) async throws -> Duration? {
        judge.look()
        let patience = judgeConditions()
        try await keepUp(&upkeep)
        let hang = tellOfHangs()
        let wasHeld = !admitsClaims
        var due = try await exchange(&mark)
        // After the claims: what another host has taken meanwhile has its lease by now.
        if try await reclaim(&watch, &watched) { due = try await exchange(&mark) }
        let solitude = stepSolitude()
        if wasHeld, solitude == nil { wakeSignal.wake() }
        let (wall, now) = (clock.now, clock.elapsed)
        let change = judge.takeNext()
        let clockCheck = due != nil || change.followsWall ? now + configuration.clockCheckInterval : nil
        let times = [
            due.map { now + max(.zero, wall.duration(to: $0)) }, clockCheck, change.time, watch.nextLook, patience,
            hang, solitude,
        ]
        return times.compactMap { $0 }.min()
    }

    /// Reports the ends of attempts, claims and starts items while there are free places, and brings promotions,
    /// cancellations and pauses to the running attempts: one call of the store.
    ///
    /// - Returns: the time at which the next item is due.
    private func exchange(_ mark: inout TermsMark?) async throws -> WallTime? {
        let begin = clock.elapsed
        let ends = takeEnds(at: begin)
        let request = claimRequest()
        let held = attempts
        let answer: HostExchange.Answer
        do {
            let exchange = HostExchange(
                ends: ends.map(\.end), claim: request, leases: held.map(\.lease), mark: mark)
            answer = try await store.exchange(exchange, at: clock.now)
        } catch {
            endsFailed(ends)
            throw error
        }
        mark = answer.mark
        endsAcknowledged(ends, answer.ends)
        start(answer.claims, begin: begin)
        for attempt in held {
            switch answer.standings[attempt.lease] {
            case .held(let terms): apply(terms, to: attempt)
            case .lost: lost(attempt)
            case nil: break
            }
        }
        // More than a batch may be claimed. A place that an end frees is claimed with the report of that end.
        if let request, answer.claims.count == request.limit, request.limit == Self.batchSize { wakeSignal.wake() }
        // Without a question the store moves nothing that is due. A place that becomes free wakes the host.
        return request == nil ? nil : answer.nextDue
    }

    /// The question for items; `nil` without a free place.
    ///
    /// A place belongs to the class at which the attempt was claimed. A promotion takes no place of the higher class.
    private func claimRequest() -> ClaimRequest? {
        guard !runners.isEmpty, admitsClaims else { return nil }
        let taken = state.withLock { state -> [QoSClass: Int]? in
            // While ends find no way to the store, nothing new begins.
            guard state.phase == .running, state.ends.count <= Self.batchSize else { return nil }
            return state.attempts.values.reduce(into: [:]) { $0[$1.qosClass, default: 0] += 1 }
        }
        guard let taken else { return nil }
        var free: [QoSClass: Int] = [:]
        for qosClass in QoSClass.allCases {
            let count = configuration.places(of: qosClass) - (taken[qosClass] ?? 0)
            if count > 0 { free[qosClass] = count }
        }
        guard !free.isEmpty else { return nil }
        let judge = self.judge
        var request = ClaimRequest(
            host: configuration.name, process: holders.current, workloads: Set(runners.keys), atMost: free,
            limit: min(Self.batchSize, free.values.reduce(0, +)), verdict: { judge.verdictNotingChange(on: $0) })
        request.versions = runners.mapValues(\.version)
        return request
    }

    /// Takes back the leases of hosts that have stopped renewing, or whose processes have ended.
    ///
    /// - Returns: whether it took one.
    private func reclaim(
        _ watch: inout LeaseWatch, _ watched: inout [String: Task<Void, Never>]
    ) async throws -> Bool {
        let now = clock.elapsed
        let isLookDue = watch.isLookDue(at: now)
        let (mustLook, own) = state.withLock { state in
            defer { state.mustLookAtLeases = false }
            // An attempt that was given up has no lease to keep: if its task hangs, another attempt takes over.
            let held = state.attempts.filter { !$0.value.state.withLock(\.isOver) }.keys
            return (state.mustLookAtLeases, Set(held).union(state.ends.map(\.end.lease)))
        }
        guard mustLook || isLookDue else { return false }
        var hasTaken = false
        do {
            let others = try await store.leases().filter { !own.contains($0.lease) }
            for (sighting, loss) in watch.looked(others, at: now, isGone: { isGone($0) }) {
                guard try await store.reclaim(sighting, because: loss, at: clock.now) else { continue }
                services.observe(.leaseReclaimed(sighting))
                hasTaken = true
            }
            watchHolders(of: others, &watched)
        } catch {
            state.withLock { $0.mustLookAtLeases = true }
            throw error
        }
        return hasTaken
    }

    private func isGone(_ process: String) -> Bool { process != holders.current && holders.isGone(process) }

    /// Watches the processes of other hosts, so that their end is known at once. A process is watched until it ends: its
    /// next lease may begin after the last look.
    private func watchHolders(of leases: [LeaseSighting], _ watched: inout [String: Task<Void, Never>]) {
        for process in watched.keys where isGone(process) { watched[process] = nil }
        for process in Set(leases.compactMap(\.process))
        where process != holders.current && watched[process] == nil && !isGone(process) {
            watched[process] = scheduler.startWorkload(at: Self.controlClass, name: "workload-holder") {
                guard await self.holders.waitUntilEnded(process) else { return }
                self.state.withLock { $0.mustLookAtLeases = true }
                self.wakeSignal.wake()
            }
        }
    }

    func apply(_ terms: LeaseTerms, to attempt: Attempt) {
        let (task, isRaised) = attempt.state.withLock { state in
            let isRaised = state.level < terms.level
            if isRaised { state.level = terms.level }
            return (state.task, isRaised)
        }
        if isRaised {
            if let task { scheduler.raiseWorkload(task, to: terms.level.qosClass) }
            services.observe(.attemptPromoted(attempt.lease, attempt.record.request.name, to: terms.level))
        }
        if let reason = terms.cancellation {
            attempt.cancel(because: reason)
        } else if let reason = terms.deferral {
            ask(attempt, .stop(reason))
        }
    }

    /// Tells running attempts whether their conditions hold.
    ///
    /// - Returns: the time at which the patience with one of them ends.
    private func judgeConditions() -> Duration? {
        let now = clock.elapsed
        var next: Duration?
        for attempt in attempts where !attempt.record.request.conditions.isEmpty && !attempt.record.ignoresConditions {
            let reasons = attempt.record.request.conditions.compactMap { condition -> String? in
                if case .unmet(let reason) = judge.verdictNotingChange(on: condition) { reason } else { nil }
            }.sorted()
            let (old, since) = attempt.state.withLock { state in
                let old = state.unmetSince
                state.unmetSince = reasons.isEmpty ? nil : old ?? now
                return (old, state.unmetSince)
            }
            guard let since else {
                if attempt.signals.set(.none), let old {
                    services.observe(.attemptResumed(attempt.lease, attempt.record.request.name, after: now - old))
                }
                continue
            }
            let end = since + configuration.patience
            let reason = reasons.joined(separator: "; ")
            ask(attempt, end <= now ? .stop(reason) : .wait(reason))
            if end > now { next = min(next ?? end, end) }
        }
        return next
    }

    /// Asks an attempt to pause or to stop, and tells the observer of a new reason.
    private func ask(_ attempt: Attempt, _ request: AttemptSignals.Request) {
        let isPaused = attempt.signals.hasRequest
        guard attempt.signals.set(request), !isPaused else { return }
        switch request {
        case .wait(let reason), .stop(let reason):
            services.observe(.attemptPaused(attempt.lease, attempt.record.request.name, because: reason))
        case .none, .cancel: break
        }
    }

    /// Asks all attempts to stop, waits for them, and gives back the leases of those that go on.
    private func end() async {
        let limit = clock.elapsed + configuration.endGrace
        let reason = "the host \(configuration.name) ends"
        var failures = 0
        while true {
            let attempts = self.attempts
            for attempt in attempts { attempt.signals.set(.stop(reason)) }
            releaseStopped()
            failures = await reportEnds() ? 0 : failures + 1
            let isDone = attempts.isEmpty && state.withLock { $0.ends.isEmpty }
            guard !isDone, clock.elapsed < limit, state.withLock({ !$0.endsAtOnce }) else { break }
            await wakeSignal.wait(
                until: failures == 0 ? limit : min(limit, clock.elapsed + Self.delay(after: failures)))
        }
        for attempt in attempts where attempt.takeEnd() {
            attempt.cancel(because: reason)
            add(PendingEnd(attempt, .deferred(reason: reason, delay: nil), keepsPlace: true, limit: endLimit))
        }
        // A store that fails is asked again within the grace: the process may be killed after it. The leases that it does
        // not take back run out, or are taken by the next host that sees that this process has ended.
        while await !reportEnds() {
            failures += 1
            let next = clock.elapsed + min(.seconds(5), Self.delay(after: failures))
            guard next < limit, state.withLock({ !$0.endsAtOnce }),
                (try? await clock.sleep(until: next, tolerance: .zero)) != nil
            else { break }
        }
        state.withLock { $0.phase = .ended }
        leaseKeeper.close()
    }

    /// Reports all ends.
    ///
    /// - Returns: whether the store has taken them, or there are none.
    private func reportEnds() async -> Bool {
        while true {
            let ends = takeEnds(at: clock.elapsed)
            guard !ends.isEmpty else { return true }
            do {
                let answer = try await store.exchange(HostExchange(ends: ends.map(\.end)), at: clock.now)
                endsAcknowledged(ends, answer.ends)
            } catch {
                endsFailed(ends)
                services.observe(.storeFailed("\(error)"))
                return false
            }
        }
    }

    /// The delay before the next call of a store after some failures.
    private static func delay(after failures: Int) -> Duration {
        min(.seconds(30), .milliseconds(100) * (1 << min(failures, 9)))
    }
}
