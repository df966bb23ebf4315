// The conformance to the library's scheduling executor is SPI in Swift 6.3: it is what `Task.sleep` asks for virtual time.
internal import QoSCore
internal import QoSRuntime
@_spi(ExperimentalCustomExecutors) @_spi(ExperimentalScheduling) import _Concurrency

/// An executor that gives jobs to a deterministic scheduler: at one class, or at that of each job's priority.
///
/// Threading: any thread.
final class DeterministicExecutor: TaskExecutor {
    private let scheduler: DeterministicScheduler
    private let qosClass: QoSClass?

    init(_ scheduler: DeterministicScheduler, _ qosClass: QoSClass?) {
        self.scheduler = scheduler
        self.qosClass = qosClass
    }

    func enqueue(_ job: UnownedJob) {
        let byPriority = QoSClass(rawPriority: job.priority.rawValue) ?? .default
        let isRaised = ConcurrencyRuntime.isEscalated(job)
        let target = qosClass.map { isRaised ? max($0, byPriority) : $0 } ?? byPriority
        scheduler.add(VirtualJob(job: job, owner: .executor(self)), target)
    }

    private func enqueue(_ job: UnownedJob, after delay: Duration, tolerance: Duration?) {
        let sleeper = qosClass ?? QoSClass(rawPriority: Task.currentPriority.rawValue) ?? .default
        let now = scheduler.now
        let window = TimerWindow(
            deadline: now.advanced(by: delay).nanoseconds, now: now.nanoseconds,
            tolerance: tolerance.map { UInt64(clamping: $0.schedulerNanoseconds) }, of: sleeper)
        scheduler.clock.call(within: window) {
            if ConcurrencyRuntime.isResumption(job) {
                ConcurrencyRuntime.runResumption(job)
            } else {
                self.enqueue(job)
            }
        }
    }
}

extension DeterministicExecutor: SchedulingExecutor {
    var asSchedulingExecutor: (any SchedulingExecutor)? { self }

    func enqueue<C: Clock>(
        _ job: consuming ExecutorJob, at instant: C.Instant, tolerance: C.Duration?, clock: C
    ) {
        enqueue(job, after: clock.now.duration(to: instant), tolerance: tolerance, clock: clock)
    }

    func enqueue<C: Clock>(
        _ job: consuming ExecutorJob, after delay: C.Duration, tolerance: C.Duration?, clock: C
    ) {
        let job = UnownedJob(job)
        if let delay = delay as? Duration {
            enqueue(job, after: delay.roundedUpToMilliseconds, tolerance: tolerance as? Duration)
        } else {
            // A clock with units of its own: only it knows how to wait.
            Task.detached(executorPreference: self) {
                try? await clock.sleep(until: clock.now.advanced(by: delay), tolerance: tolerance)
                self.enqueue(job)
            }
        }
    }
}

extension Duration {
    /// The duration, rounded up. The library turns a sleep into a point on a real clock. Rounding removes the time that
    /// passes on that clock meanwhile.
    fileprivate var roundedUpToMilliseconds: Duration {
        let nanoseconds = max(0, schedulerNanoseconds)
        return .milliseconds(nanoseconds / 1_000_000 + (nanoseconds % 1_000_000 > 0 ? 1 : 0))
    }
}
