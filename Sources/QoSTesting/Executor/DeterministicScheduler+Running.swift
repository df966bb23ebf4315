public import QoSCore
internal import QoSKernel
internal import QoSRuntime

extension DeterministicScheduler {
    /// The number of jobs that may run at one moment of virtual time before a run fails. A task that yields forever
    /// stops time.
    public static let jobsPerInstant = 1_000_000

    /// The number of steps after which a cancelled operation that goes on is given up.
    static let stepsAfterCancellation = 1000

    /// Runs until no job is queued, no job runs and no task sleeps.
    ///
    /// - Parameter limit: The virtual time that may pass. Later events stay.
    /// - Returns: whether nothing is left.
    /// - Throws: ``DeterministicSchedulerError`` if time stands still, or if the scheduler is already running.
    @discardableResult
    public func runUntilIdle(within limit: Duration = .seconds(3600)) throws(DeterministicSchedulerError) -> Bool {
        let end = now.advanced(by: limit)
        try drive(until: end, isOver: { self.isIdle })
        return isIdle
    }

    /// Runs all events within a duration, and moves the clock by it.
    ///
    /// - Throws: ``DeterministicSchedulerError`` if time stands still, or if the scheduler is already running.
    public func advance(by duration: Duration) throws(DeterministicSchedulerError) {
        try run(until: now.advanced(by: duration))
    }

    /// Runs all events until a time, and moves the clock there.
    ///
    /// - Throws: ``DeterministicSchedulerError`` if time stands still, or if the scheduler is already running.
    public func run(until time: VirtualClock.Instant) throws(DeterministicSchedulerError) {
        try drive(until: time, isOver: { false })
        // The end counts as a look at the timers: windows that have begun are used.
        let end = max(time, now)
        state.withLock { $0.pass(to: Int64(clamping: end.nanoseconds)) }
        clock.advance(to: end)
        try drive(until: end, isOver: { false })
    }

    /// Runs until a condition holds. The condition is checked after each job and whenever time has passed.
    ///
    /// - Returns: whether the condition holds; `false` if nothing is left to do before the limit.
    /// - Throws: ``DeterministicSchedulerError`` if time stands still, or if the scheduler is already running.
    @discardableResult
    public func run(
        until condition: () -> Bool, within limit: Duration = .seconds(3600)
    ) throws(DeterministicSchedulerError) -> Bool {
        try drive(until: now.advanced(by: limit), isOver: condition)
        return condition()
    }

    /// Runs an operation as a task of a class until its end, together with all other events until then.
    ///
    /// The operation has the caller's task-local values. So `Test.current`, known issues and dependencies are those of
    /// the calling test, and a failing `#expect` in the operation fails that test. With a shuffled order, the failure
    /// names the seed. If the caller is cancelled, as by `.timeLimit`, the operation is cancelled.
    ///
    /// - Returns: the operation's result.
    /// - Throws: the operation's error; ``DeterministicSchedulerError/stalled(at:)`` if nothing is left to do before
    ///   its end; ``DeterministicSchedulerError/jobLeft(_:at:)``; `CancellationError` if the operation runs for 1,000
    ///   steps after its cancellation.
    public func run<Success: Sendable>(
        at qosClass: QoSClass = .default, label: Character? = nil,
        _ operation: @escaping @Sendable () async throws -> Success
    ) throws -> Success {
        let slot = ResultSlot<Success>()
        let comment = order.comment
        let task = startTask(at: qosClass, label: label) {
            do {
                guard let comment else { return slot.set(.success(try await operation())) }
                try await TestIssues.commenting(comment) { slot.set(.success(try await operation())) }
            } catch {
                slot.set(.failure(error))
            }
        }
        var stepsAfterCancellation: Int?
        repeat {
            try run(until: {
                if let steps = stepsAfterCancellation {
                    stepsAfterCancellation = steps + 1
                    if steps >= Self.stepsAfterCancellation { return true }
                } else if Task.isCancelled {
                    stepsAfterCancellation = 0
                    task.cancel()
                }
                return slot.value != nil
            })
        } while slot.value == nil && stepsAfterCancellation == nil && waitsForArrival()
        if let value = slot.value { return try value.get() }
        guard stepsAfterCancellation == nil else { throw CancellationError() }
        throw DeterministicSchedulerError.stalled(at: now)
    }

    /// The real time for which a run that takes everything waits for a task that is elsewhere: it sleeps, or is on the main
    /// actor or on another thread.
    static let patience: Duration = .seconds(10)

    /// Waits until another thread has given the scheduler a job.
    ///
    /// - Returns: `false` if none came, or if the scheduler does not wait.
    private func waitsForArrival() -> Bool {
        guard taking == .everything else { return false }
        let end = MonotonicClock.nanoseconds() &+ UInt64(clamping: Self.patience.schedulerNanoseconds)
        return arrivals.park(untilNanoseconds: end)
    }

    private var isIdle: Bool { !state.withLock { $0.hasWork } && clock.sleepers == 0 }

    /// Runs step after step. Code of tasks runs outside of the lock.
    private func drive(
        until limit: VirtualClock.Instant, isOver: () -> Bool
    ) throws(DeterministicSchedulerError) {
        let isAlone = state.withLock { state in
            guard state.driver == nil else { return false }
            state.driver = .current
            return true
        }
        guard isAlone else { throw .alreadyRuns }
        let latestTask = ConcurrencyRuntime.numberOfLatestTask()
        departures.withLock { ($0.latestTask, $0.first) = (latestTask, nil) }
        EnqueueWatch.enter(self, driver: .current)
        defer {
            // A task that was taken comes back, whoever resumes it.
            if taking == .everything {
                EnqueueWatch.enter(self, driver: nil)
            } else {
                EnqueueWatch.leave(ObjectIdentifier(self))
            }
            state.withLock { $0.driver = nil }
        }
        try loop(until: limit, isOver: isOver)
        if let task = departures.withLock({ $0.first }) { throw .jobLeft(task, at: now) }
    }

    private func loop(until limit: VirtualClock.Instant, isOver: () -> Bool) throws(DeterministicSchedulerError) {
        var jobsAtOnce = 0
        while !isOver() {
            let timer = clock.nextWake.map { Int64(clamping: $0.nanoseconds) }
            switch state.withLock({ $0.step(until: Int64(clamping: limit.nanoseconds), timer: timer) }) {
            case .run(let job):
                run(job)
                jobsAtOnce += 1
            case .resume(let continuation):
                continuation.resume()
                if let job = state.withLock({ $0.workResumed() }) { run(job) }
                jobsAtOnce += 1
            case .timePassed:
                let time = VirtualClock.Instant(nanoseconds: UInt64(clamping: state.withLock { $0.now }))
                if time > now { jobsAtOnce = 0 }
                clock.advance(to: time)
            case .nothing:
                return
            }
            guard jobsAtOnce < Self.jobsPerInstant else { throw .timeStandsStill(at: now) }
        }
    }

    private func run(_ job: VirtualJob) {
        var next: VirtualJob? = job
        while let job = next {
            job.run()
            next = state.withLock { $0.jobReturned() }
        }
    }
}

/// A slot for a task's result.
private final class ResultSlot<Success: Sendable>: Sendable {
    private let result = Lock<Result<Success, any Error>?>(nil)

    var value: Result<Success, any Error>? { result.withLock { $0 } }

    func set(_ value: Result<Success, any Error>) {
        result.withLock { $0 = value }
    }
}

extension DeterministicScheduler.Order {
    /// The comment of an issue that is recorded under this order; `nil` if there is nothing to name.
    var comment: String? {
        guard case .shuffled(let seed) = self else { return nil }
        return "DeterministicScheduler(order: .shuffled(seed: \(seed))) repeats this order."
    }
}
