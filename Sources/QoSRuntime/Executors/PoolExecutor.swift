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
// SAFETY: nothing in it changes; the pools are made for use by any thread.
@safe
final class PoolExecutor: TaskExecutor, @unchecked Sendable {
    let core: SchedulerCore

    /// The scheduler's pools, which live as long as `core`; without a way round by it, which would be counted at each job.
    private let pools: UnsafeMutablePointer<ClassPool>

    /// The place in the scheduler's table, by which a worker knows as whose a job is run.
    let index: Int

    /// The class of an executor for one class; `nil` for the one that goes by priority.
    let qosClass: QoSClass?

    /// What its jobs declare for the scheduler's shutdown.
    let behavior: ShutdownBehavior?

    /// How many executors there are for each behavior, and for none: one for each class, one that goes by priority.
    static let perBehavior = QoSClass.allCases.count + 1

    /// How many executors a scheduler has.
    static let count = (ShutdownBehavior.allCases.count + 1) * perBehavior

    init(core: SchedulerCore, qosClass: QoSClass?, behavior: ShutdownBehavior? = nil) {
        self.core = core
        unsafe pools = core.pools
        self.qosClass = qosClass
        self.behavior = behavior
        index = Self.index(of: qosClass, behavior)
    }

    /// The place in a scheduler's table.
    static func index(of qosClass: QoSClass?, _ behavior: ShutdownBehavior?) -> Int {
        Int(behavior?.rawValue ?? 0) * perBehavior + (qosClass?.rank ?? QoSClass.allCases.count)
    }

    /// Does something that may let the job run before it returns.
    ///
    /// The job may then give up the last reference to the scheduler: the concurrency library holds none to the executor during the call.
    /// A worker's thread has one to its scheduler while it runs; on other threads one is taken.
    @inline(__always)
    private func kept(_ body: () -> Void) {
        if let worker = unsafe Worker.current,
            unsafe worker.pointee.pool >= pools, unsafe worker.pointee.pool < pools + QoSClass.allCases.count
        {
            return body()
        }
        // SAFETY: taken and given back once each.
        let reference = unsafe Unmanaged.passRetained(self)
        body()
        unsafe reference.release()
    }

    func enqueue(_ job: UnownedJob) {
        kept { add(job) }
    }

    @inline(__always)
    private func add(_ job: UnownedJob) {
        let node = JobNode(job)
        let target = targetClass(of: job)
        let isOfClass = job.priority.rawValue <= target.rawValue
        node.prepare(.job(executor: index, precedence: isOfClass ? 0 : precedence(of: job, in: target)))
        if behavior != nil, core.isEnding {
            core.submitWhileEnding(node, rank: target.rank)
        } else {
            unsafe pools[target.rank].submit(node)
        }
    }

    /// How far a job goes before the others of its class (rule C4): by as much as its priority is above that of the class, unless it
    /// is another class's.
    @inline(never)
    private func precedence(of job: UnownedJob, in target: QoSClass) -> Int {
        guard QoSClass(job.priority) == target else { return 0 }
        PrecedingNodes.areUsed.store(true, ordering: .relaxed)
        return min(Int(job.priority.rawValue - target.rawValue), JobNode.Tag.maximumPrecedence)
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
        kept { core.addTimer(deadline: deadline, tolerance: window, .job(job, executor: self)) }
    }
}
