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

    let queue = Lock(LocalQueue())

    /// How many nodes are in `queue`, for those who do not hold its lock. Written under the lock.
    let queued = Atomic<Int>(0)

    let parker = Parker()

    /// 1 + the index of the worker that parked before this one; 0 for none. Read by whoever takes this one off the stack.
    let nextParked = Atomic<Int>(0)

    /// Whether the thread waits in the kernel with its job unfinished, as far as is known, and is not counted by admission.
    /// Changes under the lock of `boost`.
    let blockedAs = Atomic<UInt8>(0)

    /// Whether the job that runs is within ``QoS/withBlocking(_:)``; read by the loop.
    let hasDeclaredBlocking = Atomic<Bool>(false)

    /// Whether the worker is parked at a checkpoint, its job unfinished: its thread must not end.
    let isParkedInJob = Atomic<Bool>(false)

    /// Set by the loop for a parked worker whose thread is to end: it stood in for a blocked one.
    let isToRetire = Atomic<Bool>(false)

    /// What the loop saw when it looked last; the loop's thread.
    var lastLook = WorkerLook()

    /// Whether the worker sleeps, or is about to: what it still has queued is then for others.
    let isParked = Atomic<Bool>(false)

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

    /// Jobs begun plus jobs ended, so far: odd while one runs. Written by the worker's thread only.
    let jobSteps = Atomic<UInt64>(0)

    /// Nodes taken from others, and sleeps, so far. Written by the worker's thread only.
    let nodesStolen = Atomic<UInt64>(0)
    let timesParked = Atomic<UInt64>(0)

    /// How its queue is named in the nodes that are in it.
    let place: JobNode.Place

    init(index: Int, place: JobNode.Place, pool: UnsafeMutablePointer<ClassPool>) {
        self.index = index
        self.place = place
        unsafe self.pool = pool
    }

    /// The worker that the calling thread is.
    @inline(__always)
    static var current: UnsafeMutablePointer<Worker>? {
        // SAFETY: only `Worker.runLoop` sets the word, to a worker that outlives its thread.
        unsafe cqos_current_worker()?.assumingMemoryBound(to: Worker.self)
    }

    @inline(__always)
    var isBlocked: Bool { blockedAs.load(ordering: .sequentiallyConsistent) != 0 }

    @inline(__always)
    var retires: Bool { isToRetire.load(ordering: .relaxed) }

    /// The name of the worker's thread.
    var identity: WorkerIdentity {
        unsafe WorkerIdentity(qosClass: pool.pointee.qosClass, index: index)
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
            node.place = place
            if isYield { queue.pushLast(node) } else { queue.pushNext(node) }
            queued.store(queue.count, ordering: .relaxed)
        }
    }

    /// Queues a batch from the injection queue. Owner only.
    func push(contentsOf batch: consuming NodeList) {
        let batch = batch
        queue.withLock { queue in
            batch.settle(at: place)
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
            node?.place = .none
            queued.store(queue.count, ordering: .relaxed)
            return node
        }
    }

    /// Takes out a node if it is in this worker's queue: whether it was. O(1). Waits for the lock.
    func remove(_ node: JobNode) -> Bool {
        queue.withLock { queue in
            // Whoever takes a node out changes its place, under this lock.
            guard node.place == place else { return false }
            queue.remove(node)
            node.place = .none
            queued.store(queue.count, ordering: .relaxed)
            return true
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
            taken.settle(at: .none)
            queued.store(queue.count, ordering: .relaxed)
            return taken
        } ?? NodeList()
    }

    /// Takes out nodes that belong into another pool; gives nothing when the lock is held.
    func extract(limit: Int, where belongsElsewhere: (JobNode) -> Bool) -> NodeList {
        guard queued.load(ordering: .relaxed) > 0 else { return NodeList() }
        return queue.withLockIfAvailable { queue in
            let taken = queue.extract(limit: limit, where: belongsElsewhere)
            taken.settle(at: .none)
            queued.store(queue.count, ordering: .relaxed)
            return taken
        } ?? NodeList()
    }

    /// Puts nodes into this worker's queue from another thread; gives them back when the lock is held.
    func offer(_ nodes: consuming NodeList) -> NodeList {
        let offered = nodes
        let accepted = queue.withLockIfAvailable { queue in
            // Nobody would look there any more.
            if retires { return false }
            offered.settle(at: place)
            queue.pushLast(contentsOf: offered)
            queued.store(queue.count, ordering: .relaxed)
            return true
        }
        return accepted == true ? NodeList() : offered
    }

    /// The thread of the parked worker is to end, and its queue takes nothing any more; `false` when something is queued.
    func beginRetirement() -> Bool {
        queue.withLock { queue in
            guard queue.count == 0 else { return false }
            isToRetire.store(true, ordering: .relaxed)
            return true
        }
    }

    /// Everything that is queued, for shutdown.
    func takeAll() -> NodeList {
        queue.withLock { queue in
            queued.store(0, ordering: .relaxed)
            let all = queue.takeAll()
            all.settle(at: .none)
            return all
        }
    }
}
