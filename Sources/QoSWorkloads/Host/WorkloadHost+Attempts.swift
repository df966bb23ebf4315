internal import QoSCore
internal import QoSKernel

extension WorkloadHost {
    /// Starts the workload of a claimed item.
    func start(_ claim: WorkloadClaim, begin: Duration) {
        guard let runner = runners[claim.record.request.name] else { return }
        let attempt = Attempt(claim, begin: begin, timeLimit: runner.timeLimit)
        state.withLock { $0.attempts[attempt.lease] = attempt }
        moveToHeart(of: attempt.qosClass, attempt)
        services.observe(
            .attemptBegan(attempt.lease, runner.name, claim.record.level, attempt: claim.record.life.attempts))
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
            result = self.result(of: try await runner.run(attempt, services), attempt)
        } catch {
            result = self.result(of: error, attempt, runner)
        }
        if attempt.takeEnd() { await report(attempt, result) }
        heart(of: attempt)?.remove(attempt.lease)
        state.withLock { state in
            state.attempts[attempt.lease] = nil
            state.heartClasses[attempt.lease] = nil
        }
        alarm.ring()
    }

    private func result(of outcome: WorkloadOutcome, _ attempt: Attempt) -> AttemptResult {
        switch outcome {
        case .finished: .finished
        case .deferred(let reason):
            .deferred(reason: reason, delay: attempt.signals.hasRequest ? nil : configuration.deferralDelay)
        case .retry(let delay, let reason): .failed(error: reason, delay: delay)
        }
    }

    private func result(of error: any Error, _ attempt: Attempt, _ runner: WorkloadRunner) -> AttemptResult {
        if attempt.state.withLock({ $0.overrun }) != nil, let limit = runner.timeLimit {
            return .failed(error: "\(WorkloadHostError.timeLimitPassed(limit))", delay: nil)
        }
        if let deferral = error as? WorkloadDeferral {
            let delay = attempt.signals.hasRequest ? nil : configuration.deferralDelay
            return .deferred(reason: deferral.reason, delay: delay)
        }
        return .failed(error: "\(error)", delay: nil)
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
    }

    /// Gives back the lease of an attempt that does not end. Its task keeps its place until it does.
    private func abandon(_ attempt: Attempt) {
        guard attempt.takeEnd() else { return }
        let name = attempt.record.request.name
        services.observe(.attemptAbandoned(attempt.lease, name))
        let limit = attempt.deadline.map { $0 - attempt.begin } ?? .zero
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
