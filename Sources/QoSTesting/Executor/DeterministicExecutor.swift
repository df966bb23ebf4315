internal import QoSCore
internal import QoSRuntime

/// An executor that gives jobs to a deterministic scheduler: at one class, or at that of each job's priority.
///
/// `Task.sleep` asks it for virtual time.
///
/// Threading: any thread.
final class DeterministicExecutor: SleepingExecutor {
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

    func enqueue(_ job: UnownedJob, after delay: Duration, tolerance: Duration?, isContinuous: Bool) {
        let sleeper = qosClass ?? QoSClass(rawPriority: Task.currentPriority.rawValue) ?? .default
        let now = scheduler.now
        let window = TimerWindow(
            deadline: now.advanced(by: delay.roundedUpToMilliseconds).nanoseconds, now: now.nanoseconds,
            tolerance: tolerance.map { UInt64(clamping: $0.schedulerNanoseconds) }, of: sleeper)
        scheduler.clock.call(within: window) {
            ConcurrencyRuntime.delayEnded(job) { self.enqueue($0) }
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
