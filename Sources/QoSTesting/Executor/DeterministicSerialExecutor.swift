internal import QoSCore
internal import QoSKernel
internal import QoSRuntime

/// A serial executor for actors on a deterministic scheduler: one call at a time, the highest class first (rules I3,
/// I4).
///
/// It replaces `QoSSerialExecutor` in tests. A call that takes virtual time by
/// ``DeterministicScheduler/work(for:isolation:)`` keeps the executor meanwhile. A call that is suspended in another
/// way does not. A higher call behind a running one raises the running one.
///
/// Threading: any thread. The actor must keep the executor.
public final class DeterministicSerialExecutor: SerialExecutor {
    private let scheduler: DeterministicScheduler

    init(_ scheduler: DeterministicScheduler) {
        self.scheduler = scheduler
    }

    /// Adds a job.
    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let qosClass = QoSClass(rawPriority: job.priority.rawValue) ?? .default
        scheduler.add(VirtualJob(job: job, owner: .serial(self)), qosClass)
    }

    /// Stops the process unless the calling thread runs a call of this executor's actors.
    public func checkIsolated() {
        precondition(isCurrent, "not on the serial executor that was expected")
    }

    /// Whether the calling thread runs a call of this executor's actors.
    public func isIsolatingCurrentContext() -> Bool? { isCurrent }

    private var isCurrent: Bool {
        let own = ObjectIdentifier(self)
        return scheduler.state.withLock { state in
            guard state.driver == .current, let current = state.current, let index = state.index(of: current) else {
                return false
            }
            return state.workers[index].job?.lane == own
        }
    }
}
