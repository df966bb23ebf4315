import CQoSShims
import QoSCore
import QoSKernel
import Synchronization

/// A worker's state. It is allocated once with its pool, and shared by the worker's own thread and the thieves of its
/// pool.
///
/// Threading: only the worker's thread uses `current`; the rest is guarded or atomic.
@safe
struct Worker: ~Copyable {
    /// The position in the pool, 0 and up.
    let index: Int

    /// The pool. It outlives its workers.
    let pool: PoolRef

    let queue: WorkerQueue

    let parker = Parker()

    /// 1 + the index of the worker that parked before this one; 0 for none. Read by the thread that takes this one off
    /// the stack.
    let nextParked = Atomic<Int>(0)

    /// Whether a thread has woken the worker for work, and the worker does not run yet.
    let isOnItsWay = Atomic<Bool>(false)

    /// Whether admission counts the worker. Changes by ``change(_:)-(WorkerStanding.Event)``.
    private let currentStanding = Atomic<WorkerStanding>(.counted)

    /// Whether the worker has a thread that goes on, so that other threads may put nodes into its queue.
    private let currentLife = Atomic<WorkerLife>(.vacant)

    /// The time since which the worker waits at a checkpoint of its job, monotonic nanoseconds; 0 when it does not
    /// wait. The thread that resets the time to 0 has counted the worker, and wakes it. Not a part of the standing,
    /// which changes later, under a lock, once the worker has woken.
    let waitsSince = Atomic<UInt64>(0)

    /// Whether the running job is within ``QoS/withBlocking(_:)``; read by the loop.
    ///
    /// Not a part of the standing: admission may count such a worker, if too many others are blocked.
    let hasDeclaredBlocking = Atomic<Bool>(false)

    /// The results of the loop's last look; the loop's thread.
    var lastLook = WorkerLook()

    /// The running task; `nil` for other work, which may have freed itself meanwhile. Owner only.
    var current: JobNode?

    /// The rank of the class of the node that runs, or ran last, once the scheduler was clamped: background's workers
    /// then run nodes of other classes, too (rule M3). 0 otherwise. Written by the worker's thread only.
    let clampedRank = Atomic<Int>(0)

    /// The class that waits for a lock of the running job; `nil` for none. With the lock of `boost` held.
    var classForLock: QoSClass?

    /// Whether the running node is an entry of a work queue, and no job or lane. Owner only.
    var runsEntry = false

    /// The address of the task that ran last, only for comparison: the task may be gone. 0 for none. Owner only.
    var latestTask: UInt = 0

    /// The yielded task that the running node resumes; it then runs at once. 0 for none. Owner only.
    var resumedTask: UInt = 0

    /// The running task, for the loop's looks.
    let running = RunningTask()

    /// The latest task with a name that the worker has run, and the address of the name. Written before the task is
    /// published in ``running``; valid as long as it is.
    private let namedTask = Atomic<UInt>(0)
    private let name = Atomic<UInt>(0)

    /// The serial lane whose items run, for the loop's looks.
    let lane = RunningLane()

    /// The running items of work queues, one within the other, for the loop's looks.
    let items = RunningItems()

    /// The shutdown behavior that the running work has declared: the raw value, 0 for none. Written by the worker's
    /// thread only.
    let declared = Atomic<UInt8>(0)

    /// The label of the running job: the address of a literal, 0 for none. Written by the worker's thread only.
    let label = Atomic<UInt>(0)

    /// The kernel's id of the worker's thread. 0 before the thread runs, and once its processor time is counted with
    /// that of ended threads.
    let threadID = Atomic<Int32>(0)

    /// The raise of the running job.
    let boost = WorkerBoost()

    /// The line of the worker in the memory that the process shows.
    let line: WorkerLine

    /// The ring for what the worker records; 0 before the first record. The worker's thread.
    let ring = Atomic<Int>(0)

    /// The number of jobs begun plus the number of jobs ended, so far: odd while one runs. Written by the worker's
    /// thread only.
    @inline(__always)
    var jobSteps: UInt64 { line.step }

    /// The numbers of nodes taken from others and of sleeps, so far. Written by the worker's thread only.
    var nodesStolen: UnsafeShared<Atomic<UInt64>> { unsafe UnsafeShared(line.words + DiagnosticsLayout.Line.stolen) }
    var timesParked: UnsafeShared<Atomic<UInt64>> { unsafe UnsafeShared(line.words + DiagnosticsLayout.Line.parked) }

    /// Keeps the next worker's writes off the cache lines of this one, which are fetched in pairs.
    private let padding = InlineArray<16, UInt64>(repeating: 0)

    init(index: Int, place: JobNode.Place, pool: PoolRef, line: WorkerLine) {
        self.index = index
        self.line = line
        queue = WorkerQueue(place: place)
        self.pool = pool
    }

    /// Whether admission counts the worker. Any thread; certain with the lock of `boost` held, for a worker in a job.
    @inline(__always)
    var standing: WorkerStanding { currentStanding.load(ordering: .sequentiallyConsistent) }

    /// Applies an event to the worker's standing. ``WorkerStanding/Event`` names the threads for each event.
    ///
    /// - Returns: whether the event applied. If not, nothing has changed.
    @discardableResult
    func change(_ event: WorkerStanding.Event) -> Bool {
        var seen = currentStanding.load(ordering: .relaxed)
        while let next = seen.after(event) {
            let (exchanged, original) = currentStanding.compareExchange(
                expected: seen, desired: next, ordering: .sequentiallyConsistent)
            if exchanged { return true }
            seen = original
        }
        return false
    }

    /// Whether the thread waits in the kernel with its job unfinished, as far as is known.
    @inline(__always)
    var isBlocked: Bool { standing.isBlocked }

    /// The same, for a raise. With the lock of `boost` held.
    var presence: WorkerRaise.Presence {
        let standing = standing
        return standing.isBlocked ? .blocked : standing == .atCheckpoint ? .atCheckpoint : .running
    }

    /// Whether the worker runs nothing now and is to start nothing. Its queued nodes are for other workers.
    var isParked: Bool { standing != .counted }

    /// Whether the worker runs work that could be raised, or is raised, as far as a thread can tell without a look.
    var mayBeRaised: Bool {
        !running.isEmpty || !items.isEmpty || !lane.isEmpty || boost.isUp.load(ordering: .acquiring)
    }

    /// Applies an event to the life of the worker's thread. ``WorkerLife/Event`` names the threads for each event.
    ///
    /// - Returns: whether the event applied. If not, nothing has changed.
    @discardableResult
    func change(_ event: WorkerLife.Event) -> Bool {
        var seen = currentLife.load(ordering: .relaxed)
        while let next = seen.after(event) {
            let (exchanged, original) = currentLife.compareExchange(
                expected: seen, desired: next, ordering: .sequentiallyConsistent)
            if exchanged { return true }
            seen = original
        }
        return false
    }

    /// Whether other threads may put nodes into the worker's queue. Certain with the queue's lock held.
    @inline(__always)
    var isOpen: Bool { currentLife.load(ordering: .relaxed) == .open }

    /// Whether the parked worker's thread has to end, or has ended. Read by the worker, or by the loop for a worker
    /// that has a thread.
    @inline(__always)
    var retires: Bool { !isOpen }

    /// Whether the thread has ended, or is about to return. A thread that sees it sees all that the worker wrote.
    var hasLeft: Bool { currentLife.load(ordering: .sequentiallyConsistent) == .left }

    /// The name of the worker's thread.
    var identity: WorkerIdentity {
        WorkerIdentity(qosClass: pool.value.qosClass, index: index)
    }

    /// Whether the calling thread is a worker of the pool.
    static func isCurrent(of pool: PoolRef) -> Bool {
        guard let worker = current else { return false }
        return worker.pool == pool
    }

    /// Whether the worker has ended its job once the calling task is suspended. That is so only if the job is the task
    /// by itself. An actor's job goes on with the actor's next call. A task that was begun at once (`Task.immediate`)
    /// leaves the rest of the job around it. Owner only.
    var isFreedBySuspension: Bool {
        current.map { ConcurrencyRuntime.currentTask?.rawValue == $0.address } ?? false
    }

    /// Queues a node that the worker's own job submitted. Owner only.
    @inline(__always)
    func push(_ node: JobNode) {
        // An older library queues the yielding task itself.
        queue.push(
            node,
            node.tag.isContinuation || node == current ? .last : node.address == resumedTask ? .now : .next)
    }

    /// Puts nodes into this worker's queue from another thread. Returns them when the queue is in use, and when the
    /// worker is not open: no thread would look there.
    func offer(_ nodes: consuming NodeList) -> NodeList {
        queue.offer(nodes, unless: { !isOpen })
    }

    /// Closes the queue of a worker whose thread could not be started, and returns its nodes. The loop's thread.
    func closeUnstarted() -> NodeList {
        queue.takeAll { change(.startFails) }
    }

    /// Ends the thread of the parked worker, and closes its queue. Returns `false` if nodes are queued, or the thread
    /// ends anyway. The loop's thread.
    func beginRetirement() -> Bool {
        var retires = false
        return queue.ifEmpty { retires = change(.retires) } && retires
    }

    /// Adds the processor time of the thread, which is about to end, to that of ended threads. The worker's thread.
    func accountThread() {
        let used = ThreadClock.nanoseconds(of: .current) ?? 0
        pool.value.counters.ended.withLock { ended in
            ended.processorTime &+= used
            ended.threads += 1
            threadID.store(0, ordering: .relaxed)
        }
        line.thread(0)
    }

    /// Notes the name of a task that the worker is about to run. The worker.
    @inline(never)
    func noteName(of job: UnownedJob) {
        let task = TaskAddress(rawValue: JobNode(job).address)
        let address = ConcurrencyRuntime.nameAddress(of: task)
        name.store(address, ordering: .relaxed)
        namedTask.store(task.rawValue, ordering: .relaxed)
        // SAFETY: the name is in the memory of the task, which is about to run.
        if line.isShown, let text = unsafe UnsafePointer<CChar>(bitPattern: address) { unsafe line.name(text) }
    }

    /// Returns the name of the running task, within a look at it. A task that was never run by this worker before, and
    /// has the address of an ended one, has noted its own name, if it has one.
    func inspectedName(of job: UnownedJob) -> String? {
        guard ConcurrencyRuntime.hasName(job), namedTask.load(ordering: .relaxed) == JobNode(job).address else {
            return nil
        }
        let address = name.load(ordering: .relaxed)
        return address == 0 ? nil : ConcurrencyRuntime.name(at: address)
    }

    /// The name of the running task; `nil` without one. Any thread.
    var nameOfRunningTask: String? { running.inspect { inspectedName(of: $0) } }

    /// The label of the innermost named part of the running job: that of ``QoS/withLabel(_:_:)``, of the work queue whose
    /// item runs, or the name of the task. `nil` for a job without any. Any thread.
    var jobLabel: String? {
        let address = label.load(ordering: .acquiring)
        if address != 0, let text = unsafe UnsafePointer<CChar>(bitPattern: address) {
            // SAFETY: only `QoS.withLabel` sets it, to a literal, which lives forever and ends with a zero.
            return unsafe String(cString: text)
        }
        return items.innermostLabel ?? nameOfRunningTask
    }
}
