import CQoSShims
import QoSCore
import QoSEventLoop
import QoSKernel
import Synchronization

/// The worker pool of one class: an injection queue, workers with queues of their own, and the word that says who sleeps.
///
/// The pool knows its class and its width; its workers are started one by one as work finds nobody to take it, and live
/// until shutdown. `Docs/Protocols/wake-park.md` has the protocol between those who add work and those who go to sleep.
///
/// Threading: any thread, except where a method says otherwise.
@safe
struct ClassPool: ~Copyable {
    let qosClass: QoSClass

    /// How many workers the pool has as long as none of them is blocked, 1…``mostWide``. Follows affinity and quota.
    private let currentWidth: Atomic<Int>

    /// How wide it may become.
    let mostWide: Int

    /// How many workers it may have at all: some more, to stand in for blocked ones.
    let capacity: Int

    /// What it has done, for diagnostics.
    let counters = PoolCounters()

    /// How many of its workers' threads wait in the kernel with their job unfinished, and have somebody to stand in for them.
    let blocked = Atomic<Int>(0)

    /// How many of its workers wait at a checkpoint of their job: work that stands in no queue.
    let waiting = Atomic<Int>(0)

    /// How long a worker that found nothing goes on looking before it parks, while a core is idle. Nanoseconds.
    let spin: UInt64

    let workers: UnsafeMutablePointer<Worker>

    let injection = InjectionQueue()
    let word = Atomic<UInt64>(0)

    /// The timers of its tasks for which its own idle workers wake up; `nil` where all are the loop's.
    let timers: PoolTimerKeeping?

    /// 1 + the index of a worker whose thread is to be created by the loop thread; 0 for none. At most one is on its
    /// way at a time, since it counts as searching.
    let startRequest = Atomic<Int>(0)

    /// The scheduler that the pool is a part of. It outlives the pool's threads.
    unowned(unsafe) let group: PoolGroup

    init(
        _ qosClass: QoSClass, width: Int, mostWide: Int, spin: UInt64, group: PoolGroup,
        at address: UnsafeMutablePointer<ClassPool>
    ) {
        self.qosClass = qosClass
        currentWidth = Atomic(min(max(width, 1), PoolWord.maximumWorkers))
        self.mostWide = min(max(mostWide, width, 1), PoolWord.maximumWorkers)
        capacity = Self.capacity(width: width, mostWide: mostWide)
        self.spin = spin
        timers =
            PoolTimerKeeping.isKept(rank: qosClass.rank)
            ? PoolTimerKeeping(rank: qosClass.rank, alarm: group.alarm) : nil
        unsafe self.group = group
        unsafe workers = UnsafeMutablePointer<Worker>.allocate(capacity: capacity)
        for index in 0..<capacity {
            unsafe (workers + index).initialize(
                to: Worker(
                    index: index,
                    place: JobNode.Place(scheduler: group.number, rank: qosClass.rank, worker: index),
                    pool: address))
        }
    }

    deinit {
        unsafe workers.deinitialize(count: capacity)
        unsafe workers.deallocate()
    }

    /// Whether the scheduler is closed.
    ///
    /// Whoever submits looks at this after it has pushed, whoever closes takes everything after it has set it; so one of the two
    /// finds the work.
    @inline(__always)
    private var isClosed: Bool { withGroup { $0.closedFlag.load(ordering: .sequentiallyConsistent) } }

    /// Without counting a reference to it, which all processors would do for each job.
    @inline(__always)
    private func withGroup<Result>(_ body: (PoolGroup) -> Result) -> Result {
        unsafe Unmanaged.passUnretained(group)._withUnsafeGuaranteedRef(body)
    }

    @inline(__always)
    var width: Int { currentWidth.load(ordering: .relaxed) }

    /// Workers beyond the new width park at their next job boundary, and end when they have nothing to do. The loop's thread.
    func setWidth(_ width: Int) {
        currentWidth.store(min(max(width, 1), mostWide), ordering: .relaxed)
    }

    /// How many workers may stand in for blocked ones of the class.
    static let mostCompensating = 32

    /// How many workers a pool may have at all.
    static func capacity(width: Int, mostWide: Int) -> Int {
        min(max(mostWide, width, 1) + mostCompensating, PoolWord.maximumWorkers)
    }

    /// How many workers the pool may have at this moment.
    @inline(__always)
    var limit: Int { min(width + blocked.load(ordering: .sequentiallyConsistent), capacity) }

    /// How many workers have a thread, or one on its way.
    @inline(__always)
    var started: Int { PoolWord(rawValue: word.load(ordering: .relaxed)).started }

    // MARK: Adding work

    /// Adds a prepared node from any thread and sees to it that somebody runs it.
    @inline(__always)
    func submit(_ node: JobNode) {
        if let worker = unsafe Worker.current, unsafe worker.pointee.pool.pointee.isSame(as: self) {
            unsafe worker.pointee.push(node)
            // The queue's count is published before the word is looked at; a worker that parks does it the other way round.
            wakeOne()
            if isClosed { unsafe group.forward(worker.pointee.queue.takeAll()) }
        } else {
            injection.push(node)
            wakeOne()
            if isClosed { unsafe group.forward(injection.takeAll()) }
        }
    }

    /// Takes everything out again that was put into queues of other workers, once the scheduler is closed: they may have left.
    ///
    /// As in ``submit(_:)``: whoever puts something in looks at the flag afterwards.
    func forwardIfClosed() {
        guard isClosed else { return }
        unsafe group.forward(injection.takeAll())
        for index in 0..<started { unsafe group.forward(workers[index].queue.takeAll()) }
    }

    @inline(__always)
    private func isSame(as other: borrowing ClassPool) -> Bool {
        unsafe workers == other.workers
    }

    /// Work has been added: asks for one more worker, unless one searches or none is left.
    @inline(__always)
    func wakeOne() {
        let seen = PoolWord(rawValue: word.load(ordering: .sequentiallyConsistent))
        if seen.searching > 0 { return }
        if seen.parkedTop == nil && seen.started >= limit && !hasWaiting {
            withGroup { $0.calls.noteBacklog() }
            return
        }
        withGroup { $0.workArrived(rank: qosClass.rank) }
    }

    /// A worker of the pool has been admitted: wakes a parked one or has one started.
    ///
    /// - Returns: `false` when there is none to wake, or one searches already; the admission is then to be given back.
    func wakeAdmitted() -> Bool {
        if resumeWaiting() { return true }
        var seen = PoolWord(rawValue: word.load(ordering: .sequentiallyConsistent))
        while true {
            let (next, notification) = seen.workAdded(width: limit) { top in
                let link = unsafe workers[top].nextParked.load(ordering: .relaxed)
                return link == 0 ? nil : link - 1
            }
            if notification == .nothing { return false }
            let (exchanged, original) = word.compareExchange(
                expected: seen.rawValue, desired: next.rawValue, ordering: .sequentiallyConsistent)
            guard exchanged else {
                seen = PoolWord(rawValue: original)
                continue
            }
            unsafe group.workerWakes()
            switch notification {
            case .nothing: break
            case .unpark(let worker):
                unsafe group.places.wakes(rank: qosClass.rank, worker)
                unsafe workers[worker].parker.unpark()
            case .start(let worker):
                startRequest.store(worker + 1, ordering: .sequentiallyConsistent)
                unsafe group.loop.wake()
            }
            return true
        }
    }

    // MARK: Looking for work

    /// Whether any queue of the pool holds something, or a worker waits at a checkpoint. Sequentially consistent with ``submit(_:)``.
    func hasWork() -> Bool {
        if !injection.isEmpty || hasWaiting { return true }
        for index in 0..<started
        where unsafe !workers[index].queue.isEmpty {
            return true
        }
        return false
    }

    /// Changes when a job of the pool begins or ends: whether its workers get on.
    var progress: UInt64 {
        var sum: UInt64 = 0
        for index in 0..<started { sum &+= unsafe workers[index].jobSteps.load(ordering: .relaxed) }
        return sum
    }

    /// Applies a transition of the word.
    ///
    /// - Returns: what the transition returned beside the new word, or `nil` when it did not want to change it.
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
