internal import QoSCore
internal import QoSKernel
internal import QoSRuntime

extension WorkloadHost {
    /// Starts the workloads of claimed items.
    func start(_ claims: [WorkloadClaim], begin: Duration) {
        guard !claims.isEmpty else { return }
        var made: [Attempt] = []
        for claim in claims {
            guard let runner = runners[claim.record.request.name] else { continue }
            made.append(Attempt(claim, begin: begin, timeLimit: runner.timeLimit))
        }
        state.withLock { state in
            for attempt in made { state.attempts[attempt.lease] = attempt }
        }
        var beginning: [Attempt] = []
        var untimely: [Attempt] = []
        for attempt in made {
            if !isSuspect(attempt) {
                beginning.append(attempt)
            } else if !waitsAlone(attempt) {
                untimely.append(attempt)
            }
        }
        // The lease keeper enforces their time limits from now on.
        for attempt in beginning { attempt.state.withLock { $0.start = begin } }
        leaseKeeper.add(made)
        launch(beginning, at: begin)
        for attempt in untimely where attempt.takeEnd() {
            let reason = "waits to run alone: it ran when a process ended"
            add(PendingEnd(attempt, .deferred(reason: reason, delay: nil), limit: endLimit))
        }
    }

    /// Starts the tasks of attempts.
    ///
    /// - Parameter start: the time from which their time limits count.
    func launch(_ attempts: [Attempt], at start: Duration) {
        state.withLock { $0.unbegunCount += attempts.count }
        for attempt in attempts { launch(attempt, at: start) }
    }

    private func launch(_ attempt: Attempt, at start: Duration) {
        attempt.state.withLock { ($0.start, $0.lastSign) = (start, start) }
        guard let runner = runners[attempt.record.request.name] else { return }
        let record = attempt.record
        services.observe(
            .attemptBegan(attempt.lease, runner.name, record.level, attempt: record.life.attempts))
        let task = scheduler.startWorkload(at: attempt.qosClass, name: runner.name.rawValue) {
            await self.perform(attempt, runner)
        }
        let level = attempt.state.withLock { state in
            state.task = task
            return state.level
        }
        // A raise may have come before the task, too: a suspect waits for its turn.
        if level.qosClass > attempt.qosClass { scheduler.raiseWorkload(task, to: level.qosClass) }
        // A request may have come before the task was known.
        if case .cancel(let reason) = attempt.signals.request { attempt.cancel(because: reason) }
    }

    private func perform(_ attempt: Attempt, _ runner: WorkloadRunner) async {
        let hasAllBegun = state.withLock { state in
            state.unbegunCount -= 1
            return state.unbegunCount == 0 && state.waitsSince != nil
        }
        if hasAllBegun { wakeSignal.wake() }
        let result: AttemptResult
        do {
            // A request may have come before the begin.
            switch attempt.signals.request {
            case .none, .wait: break
            case .stop(let reason): throw WorkloadDeferral(reason: reason)
            case .cancel: throw CancellationError()
            }
            // Named in the list of activities. What the attempt starts and sends belongs to it.
            let outcome = try await QoS.withActivity(runner.name.rawValue) {
                try await runner.run(attempt, services)
            }
            result = self.result(of: outcome, attempt)
        } catch {
            result = self.result(of: error, attempt, runner)
        }
        state.withLock { $0.solitude.left(attempt.lease) }
        if attempt.takeEnd() {
            add(PendingEnd(attempt, result, limit: endLimit))
        } else {
            state.withLock { $0.attempts[attempt.lease] = nil }
            wakeSignal.wake()
        }
    }

    private func result(of outcome: WorkloadOutcome, _ attempt: Attempt) -> AttemptResult {
        switch outcome {
        case .finished: .finished
        case .deferred(let reason):
            .deferred(reason: reason, delay: deferralDelay(of: attempt))
        case .retry(let delay, let reason): .failed(error: reason, delay: delay)
        }
    }

    private func result(of error: any Error, _ attempt: Attempt, _ runner: WorkloadRunner) -> AttemptResult {
        if attempt.state.withLock({ $0.overrun }) != nil, let limit = runner.timeLimit {
            return .failed(error: "\(WorkloadHostError.timeLimitPassed(limit))", delay: nil)
        }
        if let deferral = error as? WorkloadDeferral {
            return .deferred(reason: deferral.reason, delay: deferralDelay(of: attempt))
        }
        if case WorkloadHostError.parametersUnreadable(let name, let mistake) = error {
            // Another version of the program has written them, and its hosts can read them.
            services.observe(.parametersUnreadable(attempt.lease, name, mistake))
            let delay = configuration.deferralDelay(after: attempt.record.life.deferrals, atMost: .seconds(600))
            return .deferred(reason: "\(error)", delay: delay)
        }
        return .failed(error: "\(error)", delay: nil)
    }

    /// The delay of an attempt that defers itself; `nil` if the host has asked for it.
    private func deferralDelay(of attempt: Attempt) -> Duration? {
        guard !attempt.signals.hasRequest else { return nil }
        // A new checkpoint begins the count anew.
        let hasProgressed = attempt.state.withLock { $0.hasProgressed }
        return configuration.deferralDelay(after: hasProgressed ? 0 : attempt.record.life.deferrals)
    }

    // MARK: Ends

    /// The time until which an end that comes now may be of use.
    var endLimit: Duration { clock.elapsed + configuration.leaseDuration }

    /// Notes an end for the next call of the store. It goes with all others that come meanwhile.
    ///
    /// Attempts that were claimed together and do little end within microseconds of each other. If the first end called
    /// the store at once, the others would miss the call, and every second transaction would write one end. So an end
    /// waits until all attempts that were started have begun, at most for ``endWait``: another class may have the
    /// processors.
    func add(_ end: PendingEnd) {
        let now = clock.elapsed
        let (isDue, needsTimer) = state.withLock { state in
            state.ends.append(end)
            // The work is over, so its place is free. The store hears of the end before it gives the next item.
            if !end.keepsPlace { state.attempts[end.attempt.lease] = nil }
            guard state.unbegunCount > 0, state.phase == .running else { return (true, false) }
            state.waitsSince = state.waitsSince ?? now
            defer { state.hasEndTimer = true }
            return (false, !state.hasEndTimer)
        }
        if isDue { wakeSignal.wake() }
        if needsTimer {
            scheduler.startWorkload(at: Self.controlClass, name: "workload-ends") { await self.endTimer() }
        }
    }

    /// Wakes the host when an end has waited for ``endWait``. It looks again while other ends wait.
    private func endTimer() async {
        while true {
            let next = state.withLock { state -> Duration? in
                state.hasEndTimer = state.waitsSince != nil
                return state.waitsSince.map { $0 + Self.endWait }
            }
            guard let next else { return }
            guard next > clock.elapsed else { break }
            guard (try? await clock.sleep(until: next, tolerance: .zero)) != nil else { break }
        }
        state.withLock { ($0.hasEndTimer, $0.waitsSince) = (false, nil) }
        wakeSignal.wake()
    }

    /// Takes the ends for a call of the store.
    ///
    /// Those whose leases are over are forgotten: the items' next attempts repeat the work since their checkpoints.
    func takeEnds(at now: Duration) -> [PendingEnd] {
        let (late, batch) = state.withLock { state -> ([PendingEnd], [PendingEnd]) in
            let late = state.ends.filter { $0.limit <= now }
            if !late.isEmpty { state.ends.removeAll { $0.limit <= now } }
            let batch = Array(state.ends.prefix(state.endBatch))
            state.ends.removeFirst(batch.count)
            state.waitsSince = nil
            return (late, batch)
        }
        leaseKeeper.remove(late.map(\.attempt.lease))
        return batch
    }

    /// Notes that the store has written ends, and tells the observer.
    func endsAcknowledged(_ ends: [PendingEnd], _ states: [WorkloadState?]) {
        guard !ends.isEmpty else { return }
        let hasMore = state.withLock { state in
            state.endBatch = min(state.endBatch * 2, Self.batchSize)
            return !state.ends.isEmpty
        }
        leaseKeeper.remove(ends.map(\.attempt.lease))
        let now = clock.elapsed
        for (end, state) in zip(ends, states) {
            let (lease, name) = (end.attempt.lease, end.attempt.record.request.name)
            guard let state else {
                services.observe(.leaseLost(lease, name))
                continue
            }
            services.observe(.attemptEnded(lease, name, end.end.result, state, after: now - end.attempt.begin))
        }
        if hasMore { wakeSignal.wake() }
    }

    /// Keeps ends that the store has not written, for the next call.
    ///
    /// The next calls have fewer ends, and first those that were not part of this one: a single end that the store
    /// cannot write does not hold up the others.
    func endsFailed(_ ends: [PendingEnd]) {
        guard !ends.isEmpty else { return }
        state.withLock { state in
            state.ends += ends
            state.endBatch = max(1, ends.count / 2)
        }
    }

    /// Stops an attempt that has no lease any more. What it does from now on is refused.
    func lost(_ attempt: Attempt) {
        guard attempt.takeEnd() else { return }
        services.observe(.leaseLost(attempt.lease, attempt.record.request.name))
        attempt.cancel(because: "the lease \(attempt.lease.fence) of \(attempt.record.displayName) is lost")
        leaseKeeper.remove([attempt.lease])
        // It may wait to be alone.
        wakeSignal.wake()
    }

    /// Gives back the lease of an attempt that does not end. Its task keeps its place until it does.
    func abandon(_ attempt: Attempt) {
        guard attempt.takeEnd() else { return }
        services.observe(.attemptAbandoned(attempt.lease, attempt.record.request.name))
        let limit = attempt.timeLimit ?? .zero
        let error = "\(WorkloadHostError.timeLimitPassed(limit))"
        add(PendingEnd(attempt, .failed(error: error, delay: nil), keepsPlace: true, limit: endLimit))
    }
}
