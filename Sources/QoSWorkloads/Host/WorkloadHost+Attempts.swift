internal import QoSCore
internal import QoSKernel

extension WorkloadHost {
    /// Starts the workload of a claimed item.
    func start(_ claim: WorkloadClaim, begin: Duration) {
        guard let runner = runners[claim.record.request.name] else { return }
        let attempt = Attempt(claim, begin: begin, timeLimit: runner.timeLimit)
        state.withLock { $0.attempts[attempt.lease] = attempt }
        moveToHeart(of: attempt.qosClass, attempt)
        if !mustWaitAlone(attempt) { launch(attempt, at: begin) }
    }

    /// Starts the task of an attempt.
    ///
    /// - Parameter start: the time from which its time limit counts.
    func launch(_ attempt: Attempt, at start: Duration) {
        attempt.state.withLock { ($0.start, $0.lastSign) = (start, start) }
        guard let runner = runners[attempt.record.request.name] else { return }
        let record = attempt.record
        services.observe(
            .attemptBegan(attempt.lease, runner.name, record.level, attempt: record.life.attempts))
        let task = scheduler.startWorkload(at: attempt.qosClass, name: "\(runner.name)") {
            await self.perform(attempt, runner)
        }
        attempt.state.withLock { $0.task = task }
        // A request may have come before the task was known.
        if case .cancel(let reason) = attempt.signals.request { attempt.cancel(because: reason) }
    }

    private func perform(_ attempt: Attempt, _ runner: WorkloadRunner) async {
        let result: AttemptResult
        do {
            // A request may have come before the begin.
            switch attempt.signals.request {
            case .none, .wait: break
            case .stop(let reason): throw WorkloadDeferral(reason: reason)
            case .cancel: throw CancellationError()
            }
            result = self.result(of: try await runner.run(attempt, services), attempt)
        } catch {
            result = self.result(of: error, attempt, runner)
        }
        if attempt.takeEnd() { await report(attempt, result) }
        heart(of: attempt)?.remove(attempt.lease)
        state.withLock { state in
            state.attempts[attempt.lease] = nil
            state.heartClasses[attempt.lease] = nil
            state.solitude.left(attempt.lease)
        }
        alarm.ring()
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

    /// Reports the end of an attempt. A store that fails is asked again for as long as the lease lasts.
    func report(_ attempt: Attempt, _ result: AttemptResult) async {
        let name = attempt.record.request.name
        let limit = clock.elapsed + configuration.leaseDuration
        var delay = Duration.milliseconds(100)
        if let progress = attempt.state.withLock({ $0.progress }) {
            try? await store.save(nil, progress, under: attempt.lease)
        }
        while true {
            do {
                let state = try await store.end(attempt.lease, result, at: clock.now)
                services.observe(
                    .attemptEnded(attempt.lease, name, result, state, after: clock.elapsed - attempt.begin))
                return
            } catch WorkloadStoreError.leaseLost {
                services.observe(.leaseLost(attempt.lease, name))
                return
            } catch {
                services.observe(.storeFailed("end of \(attempt.record.displayName): \(error)"))
                let next = clock.elapsed + delay
                // The item's next attempt repeats the work since its checkpoint.
                guard next < limit, (try? await clock.sleep(until: next, tolerance: .zero)) != nil else { return }
                delay = min(delay * 2, .seconds(5))
            }
        }
    }

    /// Stops an attempt that has no lease any more. What it does from now on is refused.
    func lost(_ attempt: Attempt) {
        guard attempt.takeEnd() else { return }
        services.observe(.leaseLost(attempt.lease, attempt.record.request.name))
        attempt.cancel(because: "the lease \(attempt.lease.fence) of \(attempt.record.displayName) is lost")
        heart(of: attempt)?.remove(attempt.lease)
        // It may wait to be alone.
        alarm.ring()
    }

    /// Gives back the lease of an attempt that does not end. Its task keeps its place until it does.
    private func abandon(_ attempt: Attempt) {
        guard attempt.takeEnd() else { return }
        let name = attempt.record.request.name
        services.observe(.attemptAbandoned(attempt.lease, name))
        let limit = attempt.timeLimit ?? .zero
        scheduler.startWorkload(at: Self.controlClass, name: "workload-abandoned") {
            await self.report(attempt, .failed(error: "\(WorkloadHostError.timeLimitPassed(limit))", delay: nil))
            self.heart(of: attempt)?.remove(attempt.lease)
            self.alarm.ring()
        }
    }

    // MARK: Hearts

    private func heart(of attempt: Attempt) -> Heart? {
        state.withLock { state in state.heartClasses[attempt.lease].flatMap { state.hearts[$0] } }
    }

    /// Gives an attempt to the heart of a class.
    func moveToHeart(of qosClass: QoSClass, _ attempt: Attempt) {
        let begin: Duration?
        if let old = heart(of: attempt) {
            // An attempt that the old heart does not know has ended.
            begin = old.remove(attempt.lease)
        } else {
            begin = attempt.begin
        }
        guard let begin else { return }
        let heart = state.withLock { $0.hearts[qosClass] } ?? makeHeart(for: qosClass)
        state.withLock { $0.heartClasses[attempt.lease] = qosClass }
        heart.add(attempt, begin: begin)
    }

    private func makeHeart(for qosClass: QoSClass) -> Heart {
        let actions = Heart.Actions(
            lost: { [weak self] in self?.lost($0) }, overran: { [weak self] in self?.abandon($0) },
            terms: { [weak self] in self?.apply($1, to: $0) })
        let heart = Heart(forWorkAt: qosClass, configuration, services, scheduler, actions)
        return state.withLock { state in
            if let other = state.hearts[qosClass] {
                heart.close()
                return other
            }
            state.hearts[qosClass] = heart
            return heart
        }
    }
}
