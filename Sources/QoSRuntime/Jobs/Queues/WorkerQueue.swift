import CQoSShims
import QoSKernel
import Synchronization

/// The queued nodes of a worker, behind a lock. Taking the lock costs the worker one atomic exchange, and giving it
/// back one store.
///
/// The worker takes the lock for each job. Other threads look in now and then and, except at shutdown, go elsewhere
/// when the lock is taken. So only the worker ever sleeps for the lock in the kernel, and it has no thread to wake when
/// it gives the lock back.
///
/// The word is 0 when free, 1 when held, and 2 when another thread holds it and the worker may sleep. Lock, count and
/// queue have memory of their own, apart from the memory that other processors write: two cache lines, which are
/// fetched as a pair.
///
/// Threading: the methods under "The worker" are for the worker's thread only, the rest for any thread.
@safe
struct WorkerQueue: ~Copyable {
    // SAFETY: the memory is allocated in `init`, freed in `deinit`, and never replaced. Only the thread that has
    // changed the word from 0 uses the queue in it.
    private let memory: UnsafeMutableRawPointer

    /// The name of the queue in its nodes.
    private let place: JobNode.Place

    /// The number of looks at a taken lock before the thread sleeps, or goes elsewhere.
    private static let spins = 100

    /// The number of nodes that are looked at for one turn of the lock.
    private static let lookedAtOnce = 128

    /// The time for which a thread that wants one node waits for the lock. Nanoseconds.
    private static let patience: UInt64 = 1_000_000

    /// The length of each sleep within that time: the worker wakes no thread when it gives the lock back. Nanoseconds.
    private static let nap: UInt64 = 50_000

    // Computed properties: a stored constant of this form is read behind a check whether it has been initialized.
    private static var lineSize: Int { 128 }
    private static var countOffset: Int { 8 }
    private static var queueOffset: Int { 16 }

    init(place: JobNode.Place) {
        self.place = place
        unsafe memory = .allocate(
            byteCount: (Self.queueOffset + MemoryLayout<LocalQueue>.size + Self.lineSize - 1) & ~(Self.lineSize - 1),
            alignment: Self.lineSize)
        unsafe memory.initializeMemory(as: Atomic<UInt32>.self, to: Atomic(0))
        unsafe (memory + Self.countOffset).initializeMemory(as: Atomic<Int>.self, to: Atomic(0))
        unsafe (memory + Self.queueOffset).initializeMemory(as: LocalQueue.self, to: LocalQueue())
    }

    deinit {
        unsafe queue.deinitialize(count: 1)
        unsafe counted.deinitialize(count: 1)
        unsafe word.deinitialize(count: 1)
        unsafe memory.deallocate()
    }

    @inline(__always)
    private var word: UnsafeMutablePointer<Atomic<UInt32>> {
        unsafe memory.assumingMemoryBound(to: Atomic<UInt32>.self)
    }

    @inline(__always)
    private var counted: UnsafeMutablePointer<Atomic<Int>> {
        unsafe (memory + Self.countOffset).assumingMemoryBound(to: Atomic<Int>.self)
    }

    @inline(__always)
    private var queue: UnsafeMutablePointer<LocalQueue> {
        unsafe (memory + Self.queueOffset).assumingMemoryBound(to: LocalQueue.self)
    }

    /// The number of queued nodes, for threads that do not hold the lock.
    @inline(__always)
    var count: Int { unsafe counted.pointee.load(ordering: .relaxed) }

    /// Whether the queue is empty. Sequentially consistent with ``push(_:_:)``, as the parking protocol needs it.
    @inline(__always)
    var isEmpty: Bool { unsafe counted.pointee.load(ordering: .sequentiallyConsistent) == 0 }

    // MARK: The worker

    /// Queues a node that the worker's own job submitted.
    ///
    /// The count is stored so that a following look for sleepers sees every thread that has not seen the count.
    @inline(__always)
    func push(_ node: JobNode, _ claim: LocalQueue.Claim) {
        lock()
        node.settle(at: place)
        switch claim {
        case .next: unsafe queue.pointee.pushNext(node)
        case .last: unsafe queue.pointee.pushLast(node)
        case .now: unsafe queue.pointee.pushNext(node, overtaking: .max)
        }
        unsafe counted.pointee.store(queue.pointee.count, ordering: .sequentiallyConsistent)
        unlock()
    }

    /// Queues a batch from elsewhere.
    func push(contentsOf batch: consuming NodeList) {
        let batch = batch
        lock()
        batch.settle(at: place)
        unsafe queue.pointee.pushLast(contentsOf: batch)
        unsafe counted.pointee.store(queue.pointee.count, ordering: .sequentiallyConsistent)
        unlock()
    }

    /// Takes the next node.
    @inline(__always)
    func pop() -> JobNode? {
        guard count > 0 else { return nil }
        lock()
        let node = unsafe queue.pointee.pop()
        node?.settle(at: .none)
        unsafe counted.pointee.store(queue.pointee.count, ordering: .relaxed)
        unlock()
        return node
    }

    @inline(__always)
    private func lock() {
        if !tryLock() { lockContended() }
    }

    @inline(__always)
    private func unlock() {
        // Only the worker itself says that it sleeps, and it does not.
        unsafe word.pointee.store(0, ordering: .releasing)
    }

    @inline(never)
    private func lockContended() {
        for _ in 0..<Self.spins {
            cqos_spin_hint()
            if tryLock() { return }
        }
        while !tryLock() {
            let (isTold, seen) = unsafe word.pointee.compareExchange(expected: 1, desired: 2, ordering: .relaxed)
            if isTold || seen == 2 { unsafe cqos_futex_wait(futex, 2) }
        }
    }

    // MARK: Others

    @inline(__always)
    private func tryLock() -> Bool {
        unsafe word.pointee.compareExchange(expected: 0, desired: 1, ordering: .acquiring).exchanged
    }

    /// Runs a body with the queue if the lock is free at this moment; returns `nil` otherwise.
    private func tryWithQueue<Result>(_ body: (inout LocalQueue) -> Result) -> Result? {
        guard tryLock() else { return nil }
        let result = unsafe body(&queue.pointee)
        unsafe counted.pointee.store(queue.pointee.count, ordering: .sequentiallyConsistent)
        // All of them: a thread that insists on the lock may sleep there, too, and would take the wake-up that the
        // worker needs.
        if unsafe word.pointee.exchange(0, ordering: .releasing) == 2 { unsafe cqos_futex_wake(futex, .max) }
        return result
    }

    /// Runs a body like ``tryWithQueue(_:)``, with some patience: tries for a moment, then returns `nil`.
    private func patientlyWithQueue<Result>(_ body: (inout LocalQueue) -> Result) -> Result? {
        for _ in 0..<Self.spins {
            if let result = tryWithQueue(body) { return result }
            cqos_spin_hint()
        }
        return nil
    }

    private var futex: UnsafeMutablePointer<UInt32> {
        unsafe memory.assumingMemoryBound(to: UInt32.self)
    }

    /// Takes out a node, or its resuming job, if this queue holds it. O(1).
    ///
    /// - Returns: the node that was taken out. `nil` also when a worker that has lost its processor holds the lock for
    ///   ``patience``. Threads that look through the queue hold the lock for a small part of that time.
    func remove(_ node: JobNode) -> JobNode? {
        let end = MonotonicClock.nanoseconds() &+ Self.patience
        repeat {
            let outcome = patientlyWithQueue { queue -> (removed: JobNode?, Void) in
                // A thread that takes a node out changes its place, under this lock.
                guard node.place == place, let queued = node.queued else { return (nil, ()) }
                queue.remove(queued)
                queued.settle(at: .none)
                return (queued, ())
            }
            if let outcome { return outcome.removed }
            nap()
        } while MonotonicClock.nanoseconds() < end
        return nil
    }

    /// Gives up the processor: the holder of the lock may have lost its own to this thread.
    private func nap() {
        let (isTold, seen) = unsafe word.pointee.compareExchange(expected: 1, desired: 2, ordering: .relaxed)
        guard isTold || seen == 2 else { return }
        unsafe _ = cqos_futex_wait_until(futex, 2, MonotonicClock.nanoseconds() &+ Self.nap)
    }

    /// Takes nodes for a thief. Returns none when the lock is held: the thief looks elsewhere.
    ///
    /// - Parameter includingLast: whether the last node may be taken. A worker that makes progress will run the node in
    ///   a moment. Two tasks that wake one another in turn stay together.
    func steal(includingLast: Bool) -> NodeList {
        guard count > (includingLast ? 0 : 1) else { return NodeList() }
        return tryWithQueue { queue in
            let taken = queue.steal(includingSlot: includingLast)
            taken.settle(at: .none)
            return taken
        } ?? NodeList()
    }

    /// Takes out nodes that belong in another pool. Looks at a few for each turn of the lock, and stops when the lock
    /// is held.
    func extract(limit: Int, where belongsElsewhere: (JobNode) -> Bool) -> NodeList {
        var all = NodeList()
        var left = min(limit, count)
        while left > 0 {
            let taken: NodeList? = tryWithQueue { queue in
                let taken = queue.extract(limit: min(left, Self.lookedAtOnce), where: belongsElsewhere)
                taken.settle(at: .none)
                return taken
            }
            guard let taken else { break }
            all.append(contentsOf: taken)
            left -= Self.lookedAtOnce
        }
        return all
    }

    /// Adds nodes from another thread. Returns them when the lock is held.
    ///
    /// - Parameter isRefused: called with the lock held; returns whether the queue takes no more nodes.
    func offer(_ nodes: consuming NodeList, unless isRefused: () -> Bool) -> NodeList {
        let offered = nodes
        let isAccepted = tryWithQueue { queue in
            if isRefused() { return false }
            offered.settle(at: place)
            queue.pushLast(contentsOf: offered)
            return true
        }
        return isAccepted == true ? NodeList() : offered
    }

    /// Puts back nodes that were taken. Waits for the holder of the lock.
    func giveBack(_ nodes: consuming NodeList) {
        let nodes = nodes
        insist { queue in
            nodes.settle(at: place)
            queue.pushLast(contentsOf: nodes)
        }
    }

    /// Runs a body with the lock held if the queue is empty. Returns whether the body ran.
    func ifEmpty(_ body: () -> Void) -> Bool {
        tryWithQueue { queue in
            guard queue.count == 0 else { return false }
            body()
            return true
        } ?? false
    }

    /// Takes all nodes. Waits for the holder of the lock.
    ///
    /// - Parameter body: called with the lock held.
    func takeAll(_ body: () -> Void = {}) -> NodeList {
        insist { queue in
            body()
            let all = queue.takeAll()
            all.settle(at: .none)
            return all
        }
    }

    /// Takes out the nodes for which the predicate holds, of all that are queued; for shutdown. Waits for the holder of
    /// the lock.
    func takeOut(where isMeant: (JobNode) -> Bool) -> NodeList {
        insist { queue in
            // The first call starts where the last look ended.
            var taken = queue.extract(limit: .max, where: isMeant)
            taken.append(contentsOf: queue.extract(limit: .max, where: isMeant))
            taken.settle(at: .none)
            return taken
        }
    }

    private func insist<Result>(_ body: (inout LocalQueue) -> Result) -> Result {
        while true {
            if let result = patientlyWithQueue(body) { return result }
            // The holder has lost its processor while it held the lock, and tells no thread when it is done.
            // Nanoseconds.
            unsafe cqos_futex_wait_until(futex, 1, MonotonicClock.nanoseconds() &+ 50_000)
        }
    }
}
