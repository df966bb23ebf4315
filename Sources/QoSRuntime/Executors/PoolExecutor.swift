import QoSCore
import QoSKernel
import Synchronization

/// Gives jobs to the pools: to the pool of one class, or to that of each job's priority.
///
/// A job of an executor of one class runs in the pool of that class whatever its task's priority, since the class was
/// named explicitly; only if the task was *escalated*, because something of a higher class waits for it, it goes to the
/// pool of that class (rule I4).
///
/// Threading: any thread. A submission takes no lock and allocates nothing.
@safe
final class PoolExecutor: TaskExecutor, @unchecked Sendable {
    // SAFETY: nothing in it changes; the pools are made for use by any thread.

    let core: SchedulerCore

    /// The scheduler's pools, which live as long as `core`; without a way round by it, which would be counted at each job.
    private let pools: UnsafeMutablePointer<ClassPool>

    /// The place in the scheduler's table, by which a worker knows as whose a job is run.
    let index: Int

    /// The class of an executor for one class; `nil` for the one that goes by priority.
    let qosClass: QoSClass?

    init(core: SchedulerCore, qosClass: QoSClass?) {
        self.core = core
        unsafe pools = core.pools
        self.qosClass = qosClass
        index = qosClass?.rank ?? SchedulerCore.byPriorityIndex
    }

    func enqueue(_ job: UnownedJob) {
        let node = JobNode(job)
        node.prepare(.job(executor: index))
        unsafe pools[targetClass(of: job).rank].submit(node)
    }

    @inline(__always)
    private func targetClass(of job: UnownedJob) -> QoSClass {
        let byPriority = QoSClass(job.priority)
        guard let qosClass else { return byPriority }
        guard byPriority > qosClass, ConcurrencyRuntime.isEscalated(job) else { return qosClass }
        return byPriority
    }

    /// Submits a job at a point in time.
    ///
    /// - Parameters:
    ///   - deadline: monotonic nanoseconds.
    ///   - tolerance: nanoseconds; `nil` leaves it to the class of the task that is waiting (rule S6).
    func enqueue(_ job: UnownedJob, deadline: UInt64, tolerance: UInt64?, now: UInt64) {
        let window =
            tolerance
            ?? TimerLeeway.tolerance(
                of: qosClass ?? QoSClass(rawPriority: Task.currentPriority.rawValue) ?? .default,
                delay: deadline > now ? deadline - now : 0)
        core.addTimer(deadline: deadline, tolerance: window, .job(job, executor: self))
    }
}
