import CQoSShims
import QoSCore
import QoSEventLoop
import QoSKernel
import Synchronization

/// The worker pool of one class: an injection queue, workers with queues of their own, and the word that tells which
/// workers sleep.
///
/// The pool knows its class and its width. It starts its workers one by one, when work finds no worker to take it; they
/// live until shutdown. `Docs/Inside/Protocols/wake-park.md` has the protocol between threads that add work and workers
/// that go to sleep.
///
/// Threading: any thread, except where a method says otherwise.
@safe
struct ClassPool: ~Copyable {
    let qosClass: QoSClass

    /// The number of workers of the pool while none of them is blocked, 1…``mostWide``. Follows affinity and quota.
    private let currentWidth: Atomic<Int>

    /// The largest width of the pool.
    let mostWide: Int

    /// The largest number of workers of the pool. It exceeds the width, so that some can stand in for blocked ones.
    let capacity: Int

    /// The counters of the pool, for diagnostics.
    let counters: PoolCounters

    /// The number of workers whose threads wait in the kernel with their job unfinished, and for which another may
    /// stand in.
    let blocked = Atomic<Int>(0)

    /// The number of workers that wait at a checkpoint of their job. Their work is in no queue.
    let waiting = Atomic<Int>(0)

    /// The time for which a worker without work goes on looking before it parks, while a core is idle. Nanoseconds.
    let spin: UInt64

    let workers: UnsafeSharedTable<Worker>

    let injection = InjectionQueue()
    let word = Atomic<UInt64>(0)

    /// The timers of the pool's tasks for which its own idle workers wake up; `nil` if all of them are the loop's.
    let timers: PoolTimerKeeping?

    /// The workers that were woken and do not run yet.
    let wakeWatch = WakeWatch()

    /// 1 + the index of a worker for which the loop thread has to create a thread; 0 for none. At most one is on its
    /// way at a time, because it counts as searching.
    let startRequest = Atomic<Int>(0)

    /// The scheduler to which the pool belongs. It outlives the pool's threads.
    @inline(__always)
    var group: PoolGroup { unsafe ownGroup }
    private unowned(unsafe) let ownGroup: PoolGroup

    init(
        _ qosClass: QoSClass, width: Int, mostWide: Int, spin: UInt64, group: PoolGroup,
        at place: PoolRef
    ) {
        self.qosClass = qosClass
        currentWidth = Atomic(min(max(width, 1), PoolWord.maximumWorkers))
        self.mostWide = min(max(mostWide, width, 1), PoolWord.maximumWorkers)
        capacity = Self.capacity(width: width, mostWide: mostWide)
        counters = PoolCounters(group.shown.classWords(rank: qosClass.rank))
        self.spin = spin
        timers =
            PoolTimerKeeping.isKept(rank: qosClass.rank)
            ? PoolTimerKeeping(rank: qosClass.rank, alarm: group.alarm, tally: group.timerTally) : nil
        unsafe ownGroup = group
        workers = UnsafeSharedTable(count: capacity)
        workers.fill { index, _ in
            Worker(
                index: index, place: JobNode.Place(scheduler: group.number, rank: qosClass.rank, worker: index),
                pool: place, line: group.shown.line(rank: qosClass.rank, index: index))
        }
    }

    deinit {
        workers.free()
    }

    /// Whether the scheduler is closed.
    ///
    /// A submitting thread reads this after it has pushed. The closing thread takes all work after it has set the flag.
    /// So one of the two finds the work.
    @inline(__always)
    private var isClosed: Bool { withGroup { $0.closedFlag.load(ordering: .sequentiallyConsistent) } }

    /// Runs a body with the group, without counting a reference to it. All processors would do so for each job.
    @inline(__always)
    private func withGroup<Result>(_ body: (PoolGroup) -> Result) -> Result {
        unsafe Unmanaged.passUnretained(ownGroup)._withUnsafeGuaranteedRef(body)
    }

    @inline(__always)
    var width: Int { currentWidth.load(ordering: .relaxed) }

    /// Sets the width. Workers beyond it park at their next job boundary, and end when they have no work. The loop's
    /// thread.
    func setWidth(_ width: Int) {
        currentWidth.store(min(max(width, 1), mostWide), ordering: .relaxed)
    }

    /// The number of workers that may stand in for blocked ones of the class.
    static let mostCompensating = 32

    /// Returns the largest number of workers of a pool.
    static func capacity(width: Int, mostWide: Int) -> Int {
        min(max(mostWide, width, 1) + mostCompensating, PoolWord.maximumWorkers)
    }

    /// The number of workers that the pool may have now.
    @inline(__always)
    var limit: Int { min(width + blocked.load(ordering: .sequentiallyConsistent), capacity) }

    /// The number of workers that have a thread, or one on its way.
    @inline(__always)
    var started: Int { PoolWord(rawValue: word.load(ordering: .relaxed)).started }

    // MARK: Adding work

    /// Adds a prepared node from any thread, and wakes a worker for it if necessary. While the scheduler is clamped,
    /// the node goes to the pool of background (rule M3).
    @inline(__always)
    func submit(_ node: JobNode) {
        if withGroup({ $0.clamp.isOn }) { addClamped(node) } else { add(node) }
    }

    @inline(never)
    private func addClamped(_ node: JobNode) {
        withGroup { $0.pools[QoSClass.background.rank].add(node) }
    }

    /// Adds a prepared node to this pool from any thread, and wakes a worker for it if necessary.
    @inline(__always)
    func add(_ node: JobNode) {
        if let worker = Worker.current, worker.pool.value.isSame(as: self) {
            worker.value.push(node)
            // The queue's count is published before the word is read; a worker that parks does so in reverse order.
            wakeOne()
            if isClosed { group.forward(worker.value.queue.takeAll()) }
        } else {
            injection.push(node)
            wakeOne()
            if isClosed { group.forward(injection.takeAll()) }
        }
    }

    /// Takes all work out of the pool's queues again, if the scheduler is closed: the workers may have left.
    ///
    /// As in ``submit(_:)``, a thread that adds work reads the flag afterwards.
    func forwardIfClosed() {
        if isClosed { forwardAll() }
    }

    /// Gives all queued work of the pool to the process's default executor, once the scheduler is closed.
    func forwardAll() {
        group.forward(injection.takeAll())
        let started = PoolWord(rawValue: word.load(ordering: .sequentiallyConsistent)).started
        for index in 0..<started { group.forward(workers[index].queue.takeAll()) }
    }

    @inline(__always)
    private func isSame(as other: borrowing ClassPool) -> Bool {
        workers == other.workers
    }

    /// Asks for one more worker after work has been added, unless a worker searches or none is left.
    @inline(__always)
    func wakeOne() {
        let seen = PoolWord(rawValue: word.load(ordering: .sequentiallyConsistent))
        if seen.searching > 0, seen.parkedTop == nil || !isWakeLate { return }
        if seen.parkedTop == nil && seen.started >= limit && !hasWaiting {
            withGroup { $0.calls.noteBacklog() }
            return
        }
        withGroup { $0.workArrived(rank: qosClass.rank) }
    }

    /// Whether a worker that counts as searching was woken long ago and does not run.
    ///
    /// In the two high classes only. Their workers are bound to processors, so another processor does not take over
    /// the thread that waits. The threads of lower classes may have to wait, and further ones would wait beside them.
    @inline(__always)
    private var isWakeLate: Bool { qosClass >= .userInitiated && wakeWatch.isLate }

    /// Wakes a worker if work waits for one that was woken long ago and does not run. The loop's thread.
    func wakeBesideLate() {
        if isWakeLate, hasWork() { wakeOne() }
    }

    /// Notes that a searching worker found work. If no other one searches and there is more work, wakes another.
    func searchSucceeded() {
        let wasLast = update { word in word.workFound() }
        if wasLast == true || isWakeLate, hasWork() { wakeOne() }
    }

    /// Wakes a parked worker, or has one started, after a worker of the pool has been admitted.
    ///
    /// - Returns: `false` when there is no worker to wake, or one already searches. The caller then gives back the
    ///   admission.
    func wakeAdmitted() -> Bool {
        if resumeWaiting() { return true }
        let rank = qosClass.rank
        let spared = group.processorOfCaller(wakingRank: rank)
        var seen = PoolWord(rawValue: word.load(ordering: .sequentiallyConsistent))
        while true {
            let (next, notification) = seen.workAdded(
                width: limit, isLate: isWakeLate,
                prefersSecond: { group.places.avoids(spared, rank: rank, $0, butNot: $1) },
                nextParked: { nextParked($0) })
            if notification == .nothing { return false }
            let (exchanged, original) = word.compareExchange(
                expected: seen.rawValue, desired: next.rawValue, ordering: .sequentiallyConsistent)
            guard exchanged else {
                seen = PoolWord(rawValue: original)
                continue
            }
            group.workerWakes()
            switch notification {
            case .nothing: break
            case .unpark(let worker, let other):
                // No thread misses the other one meanwhile: the first counts as searching.
                if let other { pushParked(other, wasSearching: false) }
                group.places.wakes(rank: rank, worker, sparing: spared)
                workers[worker].isOnItsWay.store(true, ordering: .relaxed)
                wakeWatch.wakes()
                workers[worker].parker.unpark()
            case .start(let worker):
                startRequest.store(worker + 1, ordering: .sequentiallyConsistent)
                group.loop.wake()
            }
            return true
        }
    }

    // MARK: The stack of parked workers

    /// Returns the worker below a parked one. Only a thread whose change of the word succeeds may rely on it.
    func nextParked(_ worker: Int) -> Int? {
        let link = workers[worker].nextParked.load(ordering: .relaxed)
        return link == 0 ? nil : link - 1
    }

    /// Puts a worker on the stack.
    func pushParked(_ worker: Int, wasSearching: Bool) {
        update { word -> (PoolWord, Void)? in
            workers[worker].nextParked.store(word.parkedTop.map { $0 + 1 } ?? 0, ordering: .relaxed)
            return (word.workerParks(worker, wasSearching: wasSearching), ())
        }
    }

    // MARK: Looking for work

    /// Returns whether any queue of the pool has work, or a worker waits at a checkpoint. Sequentially consistent with
    /// ``submit(_:)``.
    func hasWork() -> Bool {
        if !injection.isEmpty || hasWaiting { return true }
        for index in 0..<started
        where !workers[index].queue.isEmpty {
            return true
        }
        return false
    }

    /// A number that changes when a job of the pool begins or ends. It shows whether the workers make progress.
    var progress: UInt64 {
        var sum: UInt64 = 0
        for index in 0..<started { sum &+= workers[index].jobSteps }
        return sum
    }

    /// Applies a transition of the word.
    ///
    /// - Returns: the transition's result beside the new word, or `nil` if the transition did not want to change the
    ///   word.
    @discardableResult
    func update<Result>(_ transition: (PoolWord) -> (PoolWord, Result)?) -> Result? {
        var seen = PoolWord(rawValue: word.load(ordering: .relaxed))
        while true {
            guard let (next, result) = transition(seen) else { return nil }
            let (exchanged, original) = word.compareExchange(
                expected: seen.rawValue, desired: next.rawValue, ordering: .sequentiallyConsistent)
            if exchanged { return result }
            seen = PoolWord(rawValue: original)
        }
    }
}
