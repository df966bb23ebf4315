import CQoSShims
package import QoSCore
import Synchronization
@_spi(ExperimentalCustomExecutors) @_spi(ExperimentalScheduling) import _Concurrency

// A task made on the main thread is recorded at a high priority, whatever executor it is given. When a task of that
// priority awaits it, the record does not rise. So the runtime reads the task's waiters from the task itself, and a
// child's parent from the child (`FutureFragment` and `ChildFragment` in the library's `Task.h`).

extension ConcurrencyRuntime {
    /// The distance from a task's address to the word that names its latest waiter, in bytes; 0 while it is unknown.
    private static let waiterOffset = Atomic<UInt>(0)

    /// The kind of the tasks that have this word: unstructured ones.
    private static let kindWithWaiters = Atomic<UInt32>(0)

    /// Whether the word of a waiter that names the one before it was found. The library puts it where the executor has
    /// its first word, which a suspended task does not use.
    private static let seesEarlierWaitersFlag = Atomic<Bool>(false)

    /// Whether a child task names its parent where an unstructured task names its latest waiter.
    private static let seesParentsFlag = Atomic<Bool>(false)

    /// The bit of a child task in its kind (`Task_IsChildTask`).
    private static let childFlag: UInt32 = 1 << 24

    /// Whether the runtime can see which task awaits another.
    package static var seesWaiters: Bool { waiterOffset.load(ordering: .relaxed) != 0 }

    /// Whether the runtime can see all tasks that await another, and not only the latest.
    package static var seesEarlierWaiters: Bool { seesEarlierWaitersFlag.load(ordering: .relaxed) }

    /// Whether the runtime can see whose child a task is.
    package static var seesParents: Bool { seesParentsFlag.load(ordering: .relaxed) }

    /// Returns whether the record of a queued job may hide a raise: it is above a class, and there are other means to see
    /// a raise.
    @inline(__always)
    static func mayHideRaise(_ job: UnownedJob, above qosClass: QoSClass) -> Bool {
        seesWaiters && rawPriority(of: job) > qosClass.rawValue
    }

    /// Returns the latest task that awaits a live task; `nil` when none does, or for a task without the word.
    ///
    /// The waiter is alive as long as the awaited task cannot end.
    static func latestWaiter(of task: TaskAddress) -> TaskAddress? {
        let offset = waiterOffset.load(ordering: .relaxed)
        guard offset != 0, isUnstructured(task) else { return nil }
        // SAFETY: the layout was verified, and the task is alive.
        let word = unsafe UnsafePointer<Atomic<UInt>>(bitPattern: task.rawValue + offset).unsafelyUnwrapped.pointee
            .load(ordering: .acquiring)
        // The lowest bits tell whether the task has ended, and how; then no task waits any more.
        return word & 3 == 0 && word != 0 ? TaskAddress(rawValue: word) : nil
    }

    /// Returns whether a live task has the word of the latest waiter.
    private static func isUnstructured(_ task: TaskAddress) -> Bool {
        taskKind(of: JobNode(address: task.rawValue).job) == kindWithWaiters.load(ordering: .relaxed)
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

    /// Returns the class that needs a queued job's task; see ``classNeeding(task:)``. For a job that serves an actor, it
    /// is the task whose call the job serves. The task cannot begin while the job is queued, so it cannot end either.
    package static func classNeeding(_ job: UnownedJob) -> QoSClass? {
        task(of: call(servedBy: job) ?? job).flatMap(classNeeding)
    }

    /// Returns the class of a queued job whose priority is above the executor's class. Either the task was raised, or
    /// it was created with that priority; then its waiters tell. A job that serves an actor counts as the task whose
    /// call it serves.
    @inline(never)
    static func classAbove(_ qosClass: QoSClass, of job: UnownedJob, at byPriority: QoSClass) -> QoSClass {
        if isEscalated(call(servedBy: job) ?? job) { return byPriority }
        return classNeeding(job).map { max($0, qosClass) } ?? qosClass
    }

    /// Returns the highest class that needs a task, as far as can be seen: that of a waiter or of an explicit raise, of
    /// the task itself, of the tasks whose child it is, or of the tasks that wait for one of these. The record of each of
    /// the others may show a raise.
    ///
    /// The result matters if the task's record does not rise, because the task was made at a high priority or was
    /// raised before it was queued. Visits up to ``mostVisited`` tasks.
    ///
    /// The task cannot end meanwhile: it is queued and its queue locked, it is in a wait of ours, or the calling thread
    /// runs it or is about to. So its waiters and its parents are alive, and theirs.
    static func classNeeding(task: TaskAddress) -> QoSClass? {
        var (needed, left) = (QoSClass?.none, mostVisited)
        visit(task, &needed, &left)
        return needed
    }

    /// The bound of a search for waiters.
    private static let mostVisited = 32

    private static func visit(_ task: TaskAddress, _ needed: inout QoSClass?, _ left: inout Int) {
        guard left > 0 else { return }
        left -= 1
        needed.rise(to: RaisedTasks.qosClass(of: task))
        if let parent = parent(of: task) {
            needed.rise(to: recordedRaise(of: parent))
            return visit(parent, &needed, &left)
        }
        var waiter = latestWaiter(of: task)
        while let current = waiter, left > 0 {
            needed.rise(to: latestClass(of: current))
            needed.rise(to: recordedRaise(of: current))
            visit(current, &needed, &left)
            waiter = earlierWaiter(than: current)
        }
    }

    /// Returns the task whose child a task is; `nil` for an unstructured one.
    private static func parent(of task: TaskAddress) -> TaskAddress? {
        guard seesParents,
            taskKind(of: JobNode(address: task.rawValue).job) & childFlag != 0
        else { return nil }
        return word(of: task, at: waiterOffset.load(ordering: .relaxed))
    }

    /// Returns the root of a child task that the calling thread is about to run: the parent that is no child itself.
    /// `nil` for a job that is no child, and for one with ``mostVisited`` parents.
    @inline(never)
    static func root(ofChild job: UnownedJob) -> TaskAddress? {
        guard isTask(job) else { return nil }
        var root = parent(of: TaskAddress(rawValue: JobNode(job).address))
        for _ in 0..<mostVisited {
            guard let task = root else { return nil }
            guard let parent = parent(of: task) else { return isUnstructured(task) ? task : nil }
            root = parent
        }
        return nil
    }

    /// Returns the task that began to wait before a given waiter, for the same task.
    private static func earlierWaiter(than waiter: TaskAddress) -> TaskAddress? {
        seesEarlierWaiters ? word(of: waiter, at: UInt(JobNode.linkOffset)) : nil
    }

    /// Returns the task that a word of a live task names.
    private static func word(of task: TaskAddress, at offset: UInt) -> TaskAddress? {
        // SAFETY: the layout was verified, and the task is alive.
        let word = unsafe UnsafePointer<Atomic<UInt>>(bitPattern: task.rawValue + offset).unsafelyUnwrapped.pointee
            .load(ordering: .relaxed)
        return word == 0 ? nil : TaskAddress(rawValue: word)
    }

    /// Returns the class at which a suspended task ran last: that of its scope outside of the pools, the pool's class, or
    /// that of the task's priority if it ran in no pool.
    static func latestClass(of task: TaskAddress) -> QoSClass? {
        let node = JobNode(address: task.rawValue)
        return RaisedTasks.classOfScope(of: task)
            ?? node.rankOfLatestRun.flatMap(QoSClass.init(rank:))
            ?? livePriority(node.job).flatMap(QoSClass.init(rawPriority:))
    }

    /// Makes a task that waits for another one, and looks for the waiter's address in the memory of the awaited task.
    ///
    /// All of it happens on the calling thread.
    static func learnWaiterLayout() {
        let (held, immediate) = (Holding(), Immediate())
        let awaited = Task.detached(executorPreference: held) {}
        let (noted, later) = (Holding(), Holding())
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
            unsafe learnEarlierWaiter(of: awaited, at: unsafe block + offset, first: waiterJob, later)
            learnParents(at: offset)
            break
        }
        noted.runsAtOnce = true
        unsafe awaitedJob.runSynchronously(on: immediate.asUnownedTaskExecutor())
        // The waiters come back to their executors.
        withExtendedLifetime((held, noted, later, immediate)) {}
    }

    /// Lets a second task wait, and looks whether it names the first one. The second one ends with the first.
    private static func learnEarlierWaiter(
        of awaited: Task<Void, Never>, at latest: UnsafeRawPointer, first: UnownedJob, _ later: Holding
    ) {
        _ = Task.detached(executorPreference: later) { await awaited.value }
        guard let job = later.job else { return }
        later.runsAtOnce = true
        unsafe job.runSynchronously(on: later.asUnownedTaskExecutor())
        let names = unsafe latest.load(as: UInt.self) == JobNode(job).address
        if names,
            word(of: TaskAddress(rawValue: JobNode(job).address), at: UInt(JobNode.linkOffset))?.rawValue
                == JobNode(first).address
        {
            seesEarlierWaitersFlag.store(true, ordering: .relaxed)
        }
    }

    /// Makes both kinds of child tasks, and looks whether they name their parents.
    private static func learnParents(at offset: Int) {
        let ofGroup = names(parentAt: offset) { await withTaskGroup { $0.addTask {} } }
        let ofBinding = names(parentAt: offset) {
            async let child: Void = ()
            await child
        }
        seesParentsFlag.store(ofGroup && ofBinding && !isLayoutHidden(by: "no-parents"), ordering: .relaxed)
    }

    /// Returns whether a child that the body makes names its parent at an offset. Runs both to their ends.
    private static func names(parentAt offset: Int, _ body: @escaping @Sendable () async -> Void) -> Bool {
        let executor = Holding()
        _ = Task.detached(executorPreference: executor) { await body() }
        guard let parent = executor.job.take() else { return false }
        unsafe parent.runSynchronously(on: executor.asUnownedTaskExecutor())
        guard let child = executor.job, taskKind(of: child) & childFlag != 0 else { return false }
        let named = word(of: TaskAddress(rawValue: JobNode(child).address), at: UInt(offset))?.rawValue
        executor.runsAtOnce = true
        unsafe child.runSynchronously(on: executor.asUnownedTaskExecutor())
        withExtendedLifetime(executor) {}
        return named == JobNode(parent).address
    }

    /// An executor that keeps the only job given to it.
    // SAFETY: used by one thread.
    final class Holding: TaskExecutor, @unchecked Sendable {
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

extension QoSClass? {
    /// Raises the class to at least another one; `nil` is below all.
    @inline(__always)
    mutating func rise(to other: QoSClass?) {
        if let other, self.map({ $0 < other }) ?? true { self = other }
    }
}
