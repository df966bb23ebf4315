import CQoSShims
import QoSCore
import QoSKernel
import Synchronization

/// A worker's state: allocated once with its pool, shared by its own thread and the thieves of its pool.
///
/// Threading: `current` belongs to the worker's thread; the rest is guarded or atomic.
@safe
struct Worker: ~Copyable {
    /// The position in the pool, 0 and up.
    let index: Int

    /// The pool. It outlives its workers.
    let pool: UnsafeMutablePointer<ClassPool>

    let queue: WorkerQueue

    let parker = Parker()

    /// 1 + the index of the worker that parked before this one; 0 for none. Read by whoever takes this one off the stack.
    let nextParked = Atomic<Int>(0)

    /// Whether admission counts the worker. Changes under the lock of `boost`.
    let standing = Atomic<WorkerStanding>(.counted)

    /// Since when the worker waits at a checkpoint of its job, monotonic nanoseconds; 0 when it does not. The thread that sets it
    /// to 0 has counted the worker, and wakes it.
    let waitsSince = Atomic<UInt64>(0)

    /// Whether the job that runs is within ``QoS/withBlocking(_:)``; read by the loop.
    let hasDeclaredBlocking = Atomic<Bool>(false)

    /// Whether the worker has a thread that goes on, so that other threads may put nodes into its queue. Changes under the queue's
    /// lock or before the thread starts, on the loop's thread. A parked worker that is not open ends its thread.
    let isOpen = Atomic<Bool>(false)

    /// What the loop saw when it looked last; the loop's thread.
    var lastLook = WorkerLook()

    /// Whether the worker sleeps between two jobs, or is about to. Written by the worker's thread only.
    let isIdle = Atomic<Bool>(false)

    /// The task that runs; `nil` for other work, which may have freed itself meanwhile. Owner only.
    var current: JobNode?

    /// The address of the task that ran last, to be compared only: it may be gone. 0 for none. Owner only.
    var latestTask: UInt = 0

    /// The yielded task that the running node resumes, to let it run at once; 0 for none. Owner only.
    var resumedTask: UInt = 0

    /// The task that runs, for the loop to look at; not in the highest class, which nothing can raise.
    let running = RunningTask()

    /// The serial lane whose items run, for the loop to look at.
    let lane = RunningLane()

    /// The items of work queues that run, one within the other, for the loop to look at.
    let items = RunningItems()

    /// What the work that runs has declared for a shutdown: the raw value, 0 for nothing. Written by the worker's thread only.
    let declared = Atomic<UInt8>(0)

    /// How the job that runs calls itself: the address of a literal, 0 for none. Written by the worker's thread only.
    let label = Atomic<UInt>(0)

    /// The kernel's id of the worker's thread; 0 before it runs, and once what it has used is counted with those that have ended.
    let threadID = Atomic<Int32>(0)

    /// Whether the thread has come to its end, at shutdown.
    let hasLeft = Atomic<Bool>(false)

    /// What was done for the job that runs, and whether there is something to undo.
    let boost = Lock<WorkerBoost?>(nil)
    let isBoosted = Atomic<Bool>(false)

    /// Jobs begun plus jobs ended, so far: odd while one runs. Written by the worker's thread only.
    let jobSteps = Atomic<UInt64>(0)

    /// Nodes taken from others, and sleeps, so far. Written by the worker's thread only.
    let nodesStolen = Atomic<UInt64>(0)
    let timesParked = Atomic<UInt64>(0)

    /// Keeps what the next worker's thread writes off the cache lines of this one, which are fetched in pairs.
    private let padding = InlineArray<16, UInt64>(repeating: 0)

    init(index: Int, place: JobNode.Place, pool: UnsafeMutablePointer<ClassPool>) {
        self.index = index
        queue = WorkerQueue(place: place)
        unsafe self.pool = pool
    }

    /// The worker that the calling thread is.
    @inline(__always)
    static var current: UnsafeMutablePointer<Worker>? {
        // SAFETY: only `Worker.runLoop` sets the word, to a worker that outlives its thread.
        unsafe cqos_current_worker()?.assumingMemoryBound(to: Worker.self)
    }

    /// Whether the thread waits in the kernel with its job unfinished, as far as is known.
    @inline(__always)
    var isBlocked: Bool { standing.load(ordering: .sequentiallyConsistent).isBlocked }

    /// Whether the worker runs nothing now and is to start nothing: its queued nodes are for other workers.
    var isParked: Bool {
        isIdle.load(ordering: .sequentiallyConsistent) || standing.load(ordering: .sequentiallyConsistent) != .counted
    }

    /// Whether it runs something that could be raised, or is raised, as far as is known without a look.
    var mayBeRaised: Bool {
        !running.isEmpty || !items.isEmpty || !lane.isEmpty || isBoosted.load(ordering: .acquiring)
    }

    /// Whether the parked worker's thread is to end. The worker, or the loop for one that has a thread.
    @inline(__always)
    var retires: Bool { !isOpen.load(ordering: .relaxed) }

    /// The name of the worker's thread.
    var identity: WorkerIdentity {
        unsafe WorkerIdentity(qosClass: pool.pointee.qosClass, index: index)
    }

    /// Whether the calling thread is a worker of the pool.
    static func isCurrent(of pool: UnsafeMutablePointer<ClassPool>) -> Bool {
        guard let worker = unsafe current else { return false }
        return unsafe worker.pointee.pool == pool
    }

    /// Whether the worker has ended its job once the calling task is suspended: only if the job is that task by itself. An actor's job
    /// goes on with the actor's next call, and a task that was begun at once (`Task.immediate`) leaves the rest of the job around it.
    /// Owner only.
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

    /// Puts nodes into this worker's queue from another thread. Returns them when the queue is in use, and when the worker is not
    /// open: no thread would look there.
    func offer(_ nodes: consuming NodeList) -> NodeList {
        queue.offer(nodes, unless: { !isOpen.load(ordering: .relaxed) })
    }

    /// Closes the queue of a worker that has no thread, and returns what is there. The loop's thread.
    func close() -> NodeList {
        queue.takeAll { isOpen.store(false, ordering: .relaxed) }
    }

    /// Ends the thread of the parked worker, and closes its queue; `false` when something is queued. The loop's thread.
    func beginRetirement() -> Bool {
        queue.ifEmpty { isOpen.store(false, ordering: .relaxed) }
    }

    /// The thread is about to end: what it has used is counted with those that have. The worker's thread.
    func accountThread() {
        let used = ThreadClock.nanoseconds(of: .current) ?? 0
        unsafe pool.pointee.counters.ended.withLock { ended in
            ended.processorTime &+= used
            ended.threads += 1
            threadID.store(0, ordering: .relaxed)
        }
    }

    /// How the innermost named part of the running job is called: by ``QoS/withLabel(_:_:)``, or by the work queue whose item it is;
    /// `nil` for a job that says nothing. A task's own name cannot be read from another thread. The loop's thread.
    var jobLabel: String? {
        let address = label.load(ordering: .acquiring)
        if address != 0, let text = unsafe UnsafePointer<CChar>(bitPattern: address) {
            // SAFETY: only `QoS.withLabel` sets it, to a literal, which lives for ever and ends with a zero.
            return unsafe String(cString: text)
        }
        return items.innermostLabel
    }
}
