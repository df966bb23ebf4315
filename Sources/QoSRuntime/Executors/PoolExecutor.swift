import QoSCore
import QoSKernel
import Synchronization

/// An executor that gives jobs to the pools: to the pool of one class, or to the pool of each job's priority.
///
/// A job of an executor of one class runs in the pool of that class, whatever its task's priority: the class was named
/// explicitly. There is one exception. If the task was *escalated*, because work of a higher class waits for it, the
/// job goes to the pool of that class (rule I4).
///
/// Threading: any thread. A submission takes no lock and allocates nothing.
// SAFETY: none of its state changes; any thread may use the pools.
@safe
final class PoolExecutor: JobReceiver, SleepingExecutor, @unchecked Sendable {
    let core: SchedulerCore

    /// The scheduler's pools, which live as long as `core`. A way through `core` would count references at each job.
    private let pools: UnsafeSharedTable<ClassPool>

    /// The executor's place in the scheduler's table. It tells a worker on behalf of which executor to run a job.
    let index: Int

    /// The declaration of its jobs for the scheduler's shutdown.
    let behavior: ShutdownBehavior?

    /// The distance of its jobs behind the others of their class: the relative priority without its sign. 0 for nearly
    /// all executors.
    private let lowering: Int

    init(core: SchedulerCore, qosClass: QoSClass?, behavior: ShutdownBehavior? = nil) {
        self.core = core
        pools = core.group.pools
        self.behavior = behavior
        lowering = 0
        index = ExecutorIndex.index(of: qosClass, behavior)
        super.init(qosClass: qosClass)
    }

    /// The executor of a level with a relative priority below 0.
    init(core: SchedulerCore, level: QoSLevel) {
        self.core = core
        pools = core.group.pools
        behavior = nil
        lowering = -level.relativePriority.rawValue
        index = ExecutorIndex.index(of: level)
        super.init(qosClass: level.qosClass)
    }

    /// Returns the executors of a scheduler, by their indices.
    static func all(of core: SchedulerCore) -> [PoolExecutor] {
        let behaviors = [nil] + ShutdownBehavior.allCases.sorted { $0.rawValue < $1.rawValue }
        let plain = behaviors.flatMap { behavior in
            (QoSClass.allCases + [nil]).map { PoolExecutor(core: core, qosClass: $0, behavior: behavior) }
        }
        let lowered = QoSClass.allCases.flatMap { qosClass in
            (1...ExecutorIndex.loweringsPerClass).map { steps in
                PoolExecutor(
                    core: core, level: QoSLevel(qosClass, relativePriority: RelativePriority(clamping: -steps)))
            }
        }
        return (plain + lowered).sorted { $0.index < $1.index }
    }

    /// Puts the executors of a scheduler into its table. Once, before the first submission.
    static func register(_ executors: [PoolExecutor], in group: PoolGroup) {
        for executor in executors {
            unsafe (group.executorTable + executor.index).initialize(to: executor.asUnownedTaskExecutor())
        }
        unsafe ConcurrencyRuntime.noteImplementation(of: group.executorTable[0])
    }

    /// Runs a body that may let the job run before the body returns.
    ///
    /// The job may then give up the last reference to the scheduler, because the concurrency library keeps no reference
    /// to the executor during the call. A worker's thread keeps its scheduler alive while it runs. On other threads,
    /// this function retains the executor.
    @inline(__always)
    private func kept(_ body: () -> Void) {
        if let worker = Worker.current, pools.contains(worker.pool) { return body() }
        // SAFETY: retained once and released once.
        let reference = unsafe Unmanaged.passRetained(self)
        body()
        unsafe reference.release()
    }

    override func enqueue(_ job: UnownedJob) {
        kept { add(job) }
    }

    @inline(__always)
    private func add(_ job: UnownedJob) {
        let node = JobNode(job)
        let target = targetClass(of: job)
        let isPlain = lowering == 0 && job.priority.rawValue <= target.rawValue
        let tag = isPlain ? JobNode.Tag.job(executor: index) : orderedTag(of: job, in: target)
        node.prepare(ConcurrencyRuntime.yieldedTask(of: job) == nil ? tag : tag.continuation)
        if behavior != nil, core.group.isEnding {
            core.submitWhileEnding(node, rank: target.rank)
        } else {
            pools[target.rank].submit(node)
        }
    }

    /// Returns the tag with the place of a job among the others of its class (rule C4).
    ///
    /// An executor with a relative priority puts its jobs that far behind, unless the task was escalated to a higher
    /// class. On other executors, a job goes ahead by as much as its priority is above that of the class, unless the
    /// priority is another class's.
    @inline(never)
    private func orderedTag(of job: UnownedJob, in target: QoSClass) -> JobNode.Tag {
        let tag = JobNode.Tag.job(executor: index)
        if lowering > 0 {
            guard target == qosClass else { return tag }
            OrderedNodes.areUsed.store(true, ordering: .relaxed)
            return tag.lowered(by: lowering)
        }
        guard QoSClass(job.priority) == target else { return tag }
        OrderedNodes.areUsed.store(true, ordering: .relaxed)
        let precedence = min(Int(job.priority.rawValue - target.rawValue), JobNode.Tag.maximumPrecedence)
        return .job(executor: index, precedence: precedence)
    }

    @inline(__always)
    private func targetClass(of job: UnownedJob) -> QoSClass {
        let byPriority = QoSClass(job.priority)
        guard let qosClass else { return byPriority }
        return byPriority > qosClass ? ConcurrencyRuntime.classAbove(qosClass, of: job, at: byPriority) : qosClass
    }

    /// Submits a job once a time has passed: by a timer of the calling task's pool, or by one of the loop.
    func enqueue(_ job: UnownedJob, after delay: Duration, tolerance: Duration?, isContinuous: Bool) {
        let now = MonotonicClock.nanoseconds()
        let window = TimerWindow(
            deadline: now.addingSaturating(delay.clampedNanoseconds), now: now,
            tolerance: tolerance.map(\.clampedNanoseconds),
            of: qosClass ?? QoSClass(rawPriority: Task.currentPriority.rawValue) ?? .default)
        kept {
            let isLong = isContinuous && delay > PoolTimerKeeping.longestContinuousDelay
            let payload = TimerService.Payload.delayed(job, executor: self)
            if !isLong, ConcurrencyRuntime.isResumption(job), core.addToPool(window, payload) { return }
            core.addTimer(window, payload, isContinuous: isContinuous)
        }
    }
}
