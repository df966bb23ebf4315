import CQoSShims
import QoSCore
import QoSKernel
import Synchronization

/// A worker's state: allocated once with its pool, shared by its own thread and the thieves of its pool.
///
/// Threading: `current` and `tick` belong to the worker's thread; the rest is guarded or atomic.
@safe
struct Worker: ~Copyable {
    /// The position in the pool, 0 and up.
    let index: Int

    /// The pool. It outlives its workers.
    let pool: UnsafeMutablePointer<ClassPool>

    let queue = Lock(LocalQueue())

    /// How many nodes are in `queue`, for those who do not hold its lock. Written under the lock.
    let queued = Atomic<Int>(0)

    let parker = Parker()

    /// 1 + the index of the worker that parked before this one; 0 for none. Read by whoever takes this one off the stack.
    let nextParked = Atomic<Int>(0)

    /// The node that runs, to tell a task that yields from one that was made runnable.
    var current: JobNode?

    /// The task that runs, for the loop to look at; not in the highest class, which nothing can raise.
    let running = RunningTask()

    /// The items of work queues that run, one within the other, for the loop to look at.
    let items = RunningItems()

    /// The kernel's id of the worker's thread, once it runs.
    let threadID = Atomic<Int32>(0)

    /// Whether the thread has come to its end, at shutdown.
    let hasLeft = Atomic<Bool>(false)

    /// What was done for the job that runs, and whether there is something to undo.
    let boost = Lock<WorkerBoost?>(nil)
    let isBoosted = Atomic<Bool>(false)

    /// Counts jobs, to look at the injection queue now and then even when the own queue is never empty.
    var tick: UInt32 = 0

    /// Jobs run, and nodes taken from others, so far. Written by the worker's thread only.
    let jobsRun = Atomic<UInt64>(0)
    let nodesStolen = Atomic<UInt64>(0)
    let timesParked = Atomic<UInt64>(0)

    init(index: Int, pool: UnsafeMutablePointer<ClassPool>) {
        self.index = index
        unsafe self.pool = pool
    }

    /// The worker that the calling thread is.
    @inline(__always)
    static var current: UnsafeMutablePointer<Worker>? {
        // SAFETY: only `Worker.runLoop` sets the word, to a worker that outlives its thread.
        unsafe cqos_current_worker()?.assumingMemoryBound(to: Worker.self)
    }

    /// Whether the calling thread is a worker of the pool.
    static func isCurrent(of pool: UnsafeMutablePointer<ClassPool>) -> Bool {
        guard let worker = unsafe current else { return false }
        return unsafe worker.pointee.pool == pool
    }

    /// Queues a node that the worker's own job submitted. Owner only.
    @inline(__always)
    mutating func push(_ node: JobNode) {
        let isYield = node == current
        queue.withLock { queue in
            if isYield { queue.pushLast(node) } else { queue.pushNext(node) }
            queued.store(queue.count, ordering: .relaxed)
        }
    }

    /// Queues a batch from the injection queue. Owner only.
    func push(contentsOf batch: consuming NodeList) {
        queue.withLock { queue in
            queue.pushLast(contentsOf: batch)
            queued.store(queue.count, ordering: .relaxed)
        }
    }

    /// The next node of the own queue. Owner only.
    @inline(__always)
    func pop() -> JobNode? {
        guard queued.load(ordering: .relaxed) > 0 else { return nil }
        return queue.withLock { queue in
            let node = queue.pop()
            queued.store(queue.count, ordering: .relaxed)
            return node
        }
    }

    /// Takes nodes from this worker, for a thief. Gives nothing when the lock is held: the thief looks elsewhere.
    ///
    /// - Parameter includingLast: whether the last node may be taken. A worker that gets on will run it in a moment, and
    ///   two tasks that wake one another in turn are not torn apart.
    func steal(includingLast: Bool) -> NodeList {
        guard queued.load(ordering: .relaxed) > (includingLast ? 0 : 1) else { return NodeList() }
        return queue.withLockIfAvailable { queue in
            let taken = queue.steal(includingSlot: includingLast)
            queued.store(queue.count, ordering: .relaxed)
            return taken
        } ?? NodeList()
    }

    /// Takes out nodes that belong into another pool; gives nothing when the lock is held.
    func extract(limit: Int, where belongsElsewhere: (JobNode) -> Bool) -> NodeList {
        guard queued.load(ordering: .relaxed) > 0 else { return NodeList() }
        return queue.withLockIfAvailable { queue in
            let taken = queue.extract(limit: limit, where: belongsElsewhere)
            queued.store(queue.count, ordering: .relaxed)
            return taken
        } ?? NodeList()
    }

    /// Puts nodes into this worker's queue from another thread; gives them back when the lock is held.
    func offer(_ nodes: consuming NodeList) -> NodeList {
        let offered = nodes
        let accepted: Void? = queue.withLockIfAvailable { queue in
            queue.pushLast(contentsOf: offered)
            queued.store(queue.count, ordering: .relaxed)
        }
        return accepted == nil ? offered : NodeList()
    }

    /// Everything that is queued, for shutdown.
    func takeAll() -> NodeList {
        queue.withLock { queue in
            queued.store(0, ordering: .relaxed)
            return queue.takeAll()
        }
    }
}
