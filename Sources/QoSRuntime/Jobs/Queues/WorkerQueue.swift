import CQoSShims
import QoSKernel
import Synchronization

/// What a worker has queued, behind a lock that costs the worker one atomic exchange to take and a store to give back.
///
/// The worker takes it for each job; others look in now and then and, but for shutdown, go elsewhere when it is taken. So nobody
/// but the worker ever sleeps for it in the kernel, and the worker that gives it back has nobody to wake. The word is 0 when free,
/// 1 when held, 2 when another one holds it and the worker may sleep. Lock, count and queue have memory of their own, apart from what
/// other processors write: two cache lines, which are fetched as a pair.
///
/// Threading: the methods under "The worker" for the worker's thread only, the rest for any thread.
@safe
struct WorkerQueue: ~Copyable {
    // SAFETY: the memory is allocated in `init`, freed in `deinit`, and never replaced; the queue in it is touched by the one that
    // has changed the word from 0 only.
    private let memory: UnsafeMutableRawPointer

    /// How its nodes name it.
    private let place: JobNode.Place

    /// How often a taken lock is looked at before the thread sleeps, or goes elsewhere.
    private static let spins = 100

    /// How many nodes are looked at for one turn of the lock.
    private static let lookedAtOnce = 128

    /// For how long somebody who wants one node waits for the lock. Nanoseconds.
    private static let patience: UInt64 = 1_000_000

    /// For how long of that it sleeps at a time: the worker wakes nobody when it gives the lock back. Nanoseconds.
    private static let nap: UInt64 = 50_000

    // Literals, since a stored constant of this form is looked up behind a check whether it has been made.
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

    /// How many nodes are queued, for those who do not hold the lock.
    @inline(__always)
    var count: Int { unsafe counted.pointee.load(ordering: .relaxed) }

    /// Whether nothing is queued. Sequentially consistent with ``push(_:_:)``, as the parking protocol needs it.
    @inline(__always)
    var isEmpty: Bool { unsafe counted.pointee.load(ordering: .sequentiallyConsistent) == 0 }

    // MARK: The worker

    /// Queues a node that the worker's own job submitted.
    ///
    /// The count is stored so that a look at who sleeps that follows sees everybody who has not seen it.
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

    /// The next node.
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

    /// Runs a body with the queue if nobody has it at this moment; `nil` otherwise.
    private func tryWithQueue<Result>(_ body: (inout LocalQueue) -> Result) -> Result? {
        guard tryLock() else { return nil }
        let result = unsafe body(&queue.pointee)
        unsafe counted.pointee.store(queue.pointee.count, ordering: .sequentiallyConsistent)
        // All of them: one who insists may sleep there, too, and would take the wake-up that the worker needs.
        if unsafe word.pointee.exchange(0, ordering: .releasing) == 2 { unsafe cqos_futex_wake(futex, .max) }
        return result
    }

    /// The same with some patience: for a moment, then `nil`.
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

    /// Takes out a node, or the job that resumes it, if that is in this queue. O(1).
    ///
    /// - Returns: what was taken out. `nil` also when the lock is held for ``patience``, by a worker that has lost its processor in the
    ///   midst of it: those who look through the queue hold it for a small part of that.
    func remove(_ node: JobNode) -> JobNode? {
        let end = MonotonicClock.nanoseconds() &+ Self.patience
        repeat {
            let outcome = patientlyWithQueue { queue -> (removed: JobNode?, Void) in
                // Whoever takes a node out changes its place, under this lock.
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

    /// Gives up the processor: the one who holds the lock may have lost his to this thread.
    private func nap() {
        let (isTold, seen) = unsafe word.pointee.compareExchange(expected: 1, desired: 2, ordering: .relaxed)
        guard isTold || seen == 2 else { return }
        unsafe _ = cqos_futex_wait_until(futex, 2, MonotonicClock.nanoseconds() &+ Self.nap)
    }

    /// Takes nodes, for a thief. Gives nothing when the lock is held: the thief looks elsewhere.
    ///
    /// - Parameter includingLast: whether the last node may be taken. A worker that gets on will run it in a moment, and
    ///   two tasks that wake one another in turn are not torn apart.
    func steal(includingLast: Bool) -> NodeList {
        guard count > (includingLast ? 0 : 1) else { return NodeList() }
        return tryWithQueue { queue in
            let taken = queue.steal(includingSlot: includingLast)
            taken.settle(at: .none)
            return taken
        } ?? NodeList()
    }

    /// Takes out nodes that belong into another pool, looking at a few for each turn of the lock; stops when it is held.
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

    /// Puts nodes in from another thread; gives them back when the lock is held.
    ///
    /// - Parameter isRefused: is asked with the lock held whether the queue takes nothing any more.
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

    /// Puts back what was taken. Waits for whoever has the lock.
    func giveBack(_ nodes: consuming NodeList) {
        let nodes = nodes
        insist { queue in
            nodes.settle(at: place)
            queue.pushLast(contentsOf: nodes)
        }
    }

    /// Runs a body with the lock held if nothing is queued: whether it was run.
    func ifEmpty(_ body: () -> Void) -> Bool {
        tryWithQueue { queue in
            guard queue.count == 0 else { return false }
            body()
            return true
        } ?? false
    }

    /// Everything that is queued. Waits for whoever has the lock.
    ///
    /// - Parameter body: is run with the lock held.
    func takeAll(_ body: () -> Void = {}) -> NodeList {
        insist { queue in
            body()
            let all = queue.takeAll()
            all.settle(at: .none)
            return all
        }
    }

    /// Takes out the nodes for which it holds, of all that are queued; for shutdown. Waits for whoever has the lock.
    func takeOut(where isMeant: (JobNode) -> Bool) -> NodeList {
        insist { queue in
            // The first goes from where the last look ended.
            var taken = queue.extract(limit: .max, where: isMeant)
            taken.append(contentsOf: queue.extract(limit: .max, where: isMeant))
            taken.settle(at: .none)
            return taken
        }
    }

    private func insist<Result>(_ body: (inout LocalQueue) -> Result) -> Result {
        while true {
            if let result = patientlyWithQueue(body) { return result }
            // The holder has lost its processor in the midst of it, and tells nobody when it is through. Nanoseconds.
            unsafe cqos_futex_wait_until(futex, 1, MonotonicClock.nanoseconds() &+ 50_000)
        }
    }
}
