import CQoSShims
package import QoSCore
import Synchronization
@_spi(ExperimentalCustomExecutors) @_spi(ExperimentalScheduling) import _Concurrency

// A task made on the main thread is recorded at a high priority, whatever executor it is given. When a task of that
// priority awaits it, the record does not rise. So the runtime reads the task's waiters from the task itself
// (`FutureFragment` in the library's `Task.h`).

extension ConcurrencyRuntime {
    /// The distance from a task's address to the word that names its latest waiter, in bytes; 0 while it is unknown.
    private static let waiterOffset = Atomic<UInt>(0)

    /// The kind of the tasks that have this word: unstructured ones.
    private static let kindWithWaiters = Atomic<UInt32>(0)

    /// Whether the runtime can see which task awaits another.
    package static var seesWaiters: Bool { waiterOffset.load(ordering: .relaxed) != 0 }

    /// Returns the latest task that awaits a live task; `nil` when none does, or for a task without the word.
    ///
    /// The waiter is alive as long as the awaited task cannot end.
    static func latestWaiter(of job: UnownedJob) -> TaskAddress? {
        let offset = waiterOffset.load(ordering: .relaxed)
        guard offset != 0, let task = task(of: job),
            taskKind(of: JobNode(address: task.rawValue).job) == kindWithWaiters.load(ordering: .relaxed)
        else { return nil }
        // SAFETY: the layout was verified, and the task is alive.
        let word = unsafe UnsafePointer<Atomic<UInt>>(bitPattern: task.rawValue + offset).unsafelyUnwrapped.pointee
            .load(ordering: .acquiring)
        // The lowest bits tell whether the task has ended, and how; then no task waits any more.
        return word & 3 == 0 && word != 0 ? TaskAddress(rawValue: word) : nil
    }

    /// Returns whether a live task has ended, as far as can be seen: not for a child task.
    @inline(__always)
    static func hasEnded(_ job: UnownedJob) -> Bool {
        let offset = waiterOffset.load(ordering: .relaxed)
        guard offset != 0, taskKind(of: job) == kindWithWaiters.load(ordering: .relaxed) else { return false }
        // SAFETY: the layout was verified, and the task is alive.
        return unsafe UnsafePointer<Atomic<UInt>>(bitPattern: JobNode(job).address + offset).unsafelyUnwrapped.pointee
            .load(ordering: .relaxed) & 3 != 0
    }

    /// Returns the class that needs a queued job's task: that of the task's waiter, or the class to which the task was
    /// raised. For a job that serves an actor, it is the task whose call the job serves.
    ///
    /// The result matters if the task's record does not rise, because the task was made at a high priority or was
    /// raised before it was queued. The task cannot begin while the job is queued, so its waiters are alive.
    package static func classNeeding(_ job: UnownedJob) -> QoSClass? {
        let job = call(servedBy: job) ?? job
        guard let task = task(of: job) else { return nil }
        return [RaisedTasks.qosClass(of: task), latestWaiter(of: job).flatMap(latestClass)].compactMap(\.self).max()
    }

    /// Returns the class at which a suspended task ran last: the pool's class, or that of the task's priority if it ran
    /// in no pool.
    static func latestClass(of task: TaskAddress) -> QoSClass? {
        let node = JobNode(address: task.rawValue)
        return node.rankOfLatestRun.flatMap(QoSClass.init(rank:))
            ?? livePriority(node.job).flatMap(QoSClass.init(rawPriority:))
    }

    /// Makes a task that waits for another one, and looks for the waiter's address in the memory of the awaited task.
    ///
    /// All of it happens on the calling thread.
    static func learnWaiterLayout() {
        let (held, immediate) = (Holding(), Immediate())
        let awaited = Task.detached(executorPreference: held) {}
        let noted = Holding()
        _ = Task.detached(executorPreference: noted) { await awaited.value }
        guard let awaitedJob = held.job, let waiterJob = noted.job else { return }
        let task = JobNode(awaitedJob).address
        unsafe waiterJob.runSynchronously(on: noted.asUnownedTaskExecutor())
        let block = unsafe UnsafeRawPointer(bitPattern: task).unsafelyUnwrapped
        let size = unsafe cqos_allocated_size(block)
        for offset in stride(from: JobNode.linkOffset, through: size - 8, by: MemoryLayout<UInt>.size)
        where unsafe block.load(fromByteOffset: offset, as: UInt.self) == JobNode(waiterJob).address {
            kindWithWaiters.store(taskKind(of: awaitedJob), ordering: .relaxed)
            waiterOffset.store(UInt(offset), ordering: .relaxed)
            break
        }
        noted.runsAtOnce = true
        unsafe awaitedJob.runSynchronously(on: immediate.asUnownedTaskExecutor())
        withExtendedLifetime((held, noted, immediate)) {}
    }

    /// An executor that keeps the only job given to it.
    // SAFETY: used by one thread.
    private final class Holding: TaskExecutor, @unchecked Sendable {
        var job: UnownedJob?
        var runsAtOnce = false

        func enqueue(_ job: UnownedJob) {
            guard runsAtOnce else {
                self.job = job
                return
            }
            unsafe job.runSynchronously(on: asUnownedTaskExecutor())
        }
    }
}
