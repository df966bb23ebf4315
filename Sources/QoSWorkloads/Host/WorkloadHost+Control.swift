internal import QoSCore
internal import QoSKernel

extension WorkloadHost {
    /// The host's own task, from the begin of ``run()`` to its end.
    func control() async {
        let desk = startFileDesk()
        let hints = forward(store.changes(), "workload-changes") { desk?.itemsMayHaveChanged() }
        let conditions = forward(configuration.conditions.changes(), "workload-conditions") {}
        var watch = LeaseWatch(duration: configuration.leaseDuration)
        var watched: [String: Task<Void, Never>] = [:]
        var upkeep = Upkeep()
        var failures = 0
        while state.withLock({ $0.phase == .running }) {
            var next: Duration?
            do {
                next = try await pass(&watch, &watched, &upkeep)
                if failures > 0 { state.withLock { $0.storeFailure = nil } }
                failures = 0
            } catch {
                state.withLock { $0.storeFailure = error }
                services.observe(.storeFailed("\(error)"))
                failures += 1
                next = clock.elapsed + min(.seconds(5), .milliseconds(100) * (1 << min(failures, 9)))
            }
            await alarm.wait(until: next)
        }
        desk?.close()
        await end()
        alarm.close()
        for task in watched.values { task.cancel() }
        hints.cancel()
        conditions.cancel()
    }

    private func forward(
        _ changes: AsyncStream<Void>, _ name: String, _ more: @escaping @Sendable () -> Void
    ) -> Task<Void, Never> {
        let alarm = self.alarm
        return scheduler.startWorkload(at: Self.controlClass, name: name) {
            for await _ in changes {
                alarm.ring()
                more()
            }
        }
    }

    /// Watches the files of the store's items on file events.
    private func startFileDesk() -> FileDesk? {
        guard let files = configuration.files, !runners.isEmpty else { return nil }
        let alarm = self.alarm
        let desk = FileDesk(
            files, of: Set(runners.keys), services, scheduler, pollInterval: configuration.fileLookInterval
        ) { alarm.ring() }
        scheduler.startWorkload(at: Self.controlClass, name: "workload-files") { await desk.run() }
        return desk
    }

    /// Does all that can be done now.
    ///
    /// - Returns: the time by which another pass may have something to do; `nil` to wait for a hint alone. A host looks
    ///   at the wall clock from time to time while something waits for it, because nobody tells when it is set.
    private func pass(
        _ watch: inout LeaseWatch, _ watched: inout [String: Task<Void, Never>], _ upkeep: inout Upkeep
    ) async throws -> Duration? {
        try await applyTerms()
        judge.look()
        let patience = judgeConditions()
        try await keepUp(&upkeep)
        let hang = tellOfHangs()
        try await claim()
        // After the claims: what another host has taken meanwhile has its lease by now.
        if try await reclaim(&watch, &watched) { try await claim() }
        let solitude = stepSolitude()
        let (wall, now) = (clock.now, clock.elapsed)
        let due = try await store.nextDue()
        let change = judge.takeNext()
        let clockCheck = due != nil || change.followsWall ? now + configuration.clockCheckInterval : nil
        let times = [
            due.map { now + max(.zero, wall.duration(to: $0)) }, clockCheck, change.time, watch.nextLook, patience,
            hang, solitude,
        ]
        return times.compactMap { $0 }.min()
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
            return (state.mustLookAtLeases, Set(state.attempts.keys))
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
                self.alarm.ring()
            }
        }
    }

    /// Brings promotions, cancellations and pauses to the running attempts.
    private func applyTerms() async throws {
        let attempts = self.attempts
        guard !attempts.isEmpty else { return }
        let standings = try await store.standings(of: attempts.map(\.lease))
        for (attempt, standing) in zip(attempts, standings) {
            switch standing {
            case .held(let terms): apply(terms, to: attempt)
            case .lost: lost(attempt)
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
            moveToHeart(of: terms.level.qosClass, attempt)
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

    /// Claims and starts items while there are free places.
    private func claim() async throws {
        guard !runners.isEmpty else { return }
        while state.withLock({ $0.phase == .running }), stepSolitude() == nil {
            var free: Set<QoSClass> = []
            for qosClass in QoSClass.allCases where freePlaces(of: qosClass) > 0 { free.insert(qosClass) }
            guard !free.isEmpty else { return }
            let judge = self.judge
            var request = ClaimRequest(
                host: configuration.name, process: holders.current, workloads: Set(runners.keys), classes: free,
                verdict: { judge.verdictNotingChange(on: $0) })
            request.versions = runners.mapValues(\.version)
            let begin = clock.elapsed
            guard let claim = try await store.claim(request, at: clock.now) else { return }
            start(claim, begin: begin)
        }
    }

    /// A place belongs to the class at which the attempt was claimed. A promotion takes no place of the higher class.
    private func freePlaces(of qosClass: QoSClass) -> Int {
        configuration.places(of: qosClass)
            - state.withLock { $0.attempts.values.count { $0.qosClass == qosClass } }
    }

    /// Asks all attempts to stop, waits for them, and gives back the leases of those that go on.
    private func end() async {
        let limit = clock.elapsed + configuration.endGrace
        let reason = "the host \(configuration.name) ends"
        while true {
            let attempts = self.attempts
            for attempt in attempts { attempt.signals.set(.stop(reason)) }
            releaseStopped()
            guard !attempts.isEmpty, clock.elapsed < limit, state.withLock({ !$0.endsAtOnce }) else { break }
            await alarm.wait(until: limit)
        }
        for attempt in attempts where attempt.takeEnd() {
            attempt.cancel(because: reason)
            await report(attempt, .deferred(reason: reason, delay: nil))
        }
        let hearts = state.withLock { state in
            state.phase = .ended
            return Array(state.hearts.values)
        }
        for heart in hearts { heart.close() }
    }
}
