import CQoSShims
import QoSCore
import Synchronization

/// Runs items one at a time, in the pool of the class of its highest waiting item: what an actor with a serial
/// executor of ours, and later a serial queue, is made of.
///
/// Items come in through a lock-free queue. Whoever finds the lane idle puts an activation into the pool of the item's
/// class; an item of a higher class puts another one into a higher pool, which overtakes the first (rules I3, I4). The
/// worker that an activation reaches runs the items by class, in the order of arrival within a class, as long as what
/// comes next is of its own class; else it hands the lane over (`Docs/Protocols/serial-lane.md`).
///
/// Threading: any thread.
// SAFETY: `waiting` belongs to whoever has set the running bit of `word`; the rest is atomic or never changes.
@safe
final class SerialLane: @unchecked Sendable {
    /// How many items one activation runs before the pool's other work gets its turn.
    private static let batch = 64

    let group: PoolGroup

    private let arrivals = InjectionQueue()
    private let word = Atomic<UInt8>(0)

    /// The rank of the pool in which the lane runs.
    private let runningRank = Atomic<Int>(0)

    /// 1 + the rank of the highest item that came while the lane ran, since the running item began; 0 for none.
    private let arrivedRank = Atomic<Int>(0)

    /// Whether the runner is to look which of the waiting tasks were raised, before it chooses the next item.
    private let mustLook = Atomic<Bool>(false)
    private var waiting = LaneItems()
    private let activations: UnsafeMutablePointer<UInt>

    /// As whose the jobs are run; set once, before the first of them.
    private var executor: UnownedSerialExecutor?

    init(group: PoolGroup) {
        self.group = group
        unsafe activations = .allocate(capacity: QoSClass.allCases.count * 4)
        unsafe activations.initialize(repeating: 0, count: QoSClass.allCases.count * 4)
    }

    deinit {
        unsafe activations.deallocate()
    }

    /// Names the executor whose lane this is; once, before the first job. It has to outlive its jobs, as every executor.
    func belongs(to executor: UnownedSerialExecutor) {
        unsafe self.executor = executor
    }

    /// Whether the calling thread runs an item of this lane.
    var isCurrent: Bool {
        unsafe cqos_current_lane() == Unmanaged.passUnretained(self).toOpaque()
    }

    /// Adds a job. Lock-free; wakes a worker only where the lane is idle or has to be raised.
    ///
    /// The job may run before this returns, and be the last that anybody wanted of the lane: the concurrency library holds no reference
    /// to the executor during the call, so one is taken.
    func enqueue(_ job: UnownedJob) {
        // SAFETY: taken and given back once each.
        let reference = unsafe Unmanaged.passRetained(self)
        defer { unsafe reference.release() }
        let rank = QoSClass(job.priority).rank
        let node = JobNode(job)
        node.prepare(.job(executor: 0))
        arrivals.push(node)
        submitActivation { word in word.itemAdded(rank: rank).map { ($0, rank) } }
        if LaneWord(rawValue: word.load(ordering: .relaxed)).isRunning { arrivedWhileRunning(rank: rank) }
    }

    /// An item came while another one runs. If that runs in a lower pool, the loop is told: its worker is to be raised.
    private func arrivedWhileRunning(rank: Int) {
        guard rank > runningRank.load(ordering: .relaxed) else { return }
        arrivedRank.max(rank + 1, ordering: .sequentiallyConsistent)
        group.calls.noteItemsChanged()
    }

    /// The rank of the highest item that came while a lower one runs; `nil` for none. Any thread.
    var awaitedRank: Int? {
        // Whoever looks at a lane that runs cannot look at what waits: the runner owns that.
        mustLook.store(true, ordering: .relaxed)
        let rank = arrivedRank.load(ordering: .sequentiallyConsistent) - 1
        return rank < 0 ? nil : rank
    }

    /// Looks for raised tasks among what waits, and puts the lane into the pool of the highest (rule I4). Any thread.
    ///
    /// It owns the lane meanwhile, as if it ran it, and runs nothing. While a worker runs the lane, that worker is to look.
    func raiseAwaited(limit: Int) {
        guard update({ word in word.runResumed().map { ($0, ()) } }) != nil else {
            return mustLook.store(true, ordering: .relaxed)
        }
        repeat {
            takeArrivals()
            if let raised = waiting.raiseEscalated(limit: limit) {
                group.noteMoved(to: raised.to)
                group.observe(
                    .promotedWaiting(from: QoSClass(atRank: raised.from), to: QoSClass(atRank: raised.to), .escalated))
            }
            submitActivation { word in word.runEnded(leaving: waiting.highestRank) }
        } while mayResume
    }

    private func takeArrivals() {
        waiting.append(contentsOf: arrivals.takeAll())
    }

    /// Whether something came after the last look and before the end of the run, and was left to the one who ends it: that one owns the
    /// lane again.
    private var mayResume: Bool {
        !arrivals.isEmpty && update { word in word.runResumed().map { ($0, ()) } } != nil
    }

    private func submitActivation(_ transition: (LaneWord) -> (LaneWord, Int?)?) {
        guard let submitted = update(transition), let rank = submitted else { return }
        unsafe LaneActivation(words: activations + 4 * rank).submit(for: self, rank: rank, to: group)
    }

    /// An activation has reached a worker.
    ///
    /// - Parameter mayReHome: `false` where there is no pool any more to hand the lane over to.
    func activationReached(rank: Int, mayReHome: Bool) {
        guard update({ $0.activationTaken(rank: rank) }) == true else { return }
        let outer = unsafe cqos_current_lane()
        unsafe cqos_set_current_lane(Unmanaged.passUnretained(self).toOpaque())
        defer { unsafe cqos_set_current_lane(outer) }
        runItems(rank: mayReHome ? rank : nil)
        repeat {
            takeArrivals()
            submitActivation { word in word.runEnded(leaving: waiting.highestRank) }
        } while mayResume
    }

    private func runItems(rank: Int?) {
        runningRank.store(rank ?? QoSClass.userInteractive.rank, ordering: .relaxed)
        for _ in 0..<Self.batch {
            if arrivedRank.load(ordering: .relaxed) != 0 { arrivedRank.store(0, ordering: .sequentiallyConsistent) }
            takeArrivals()
            if mustLook.load(ordering: .relaxed) {
                mustLook.store(false, ordering: .relaxed)
                _ = waiting.raiseEscalated(limit: .max)
            }
            guard let highest = waiting.highestRank, rank == nil || highest == rank else { return }
            guard let node = waiting.popHighest() else { return }
            if let executor = unsafe executor { unsafe node.job.runSynchronously(on: executor) }
        }
    }

    private func update<Result>(_ transition: (LaneWord) -> (LaneWord, Result)?) -> Result? {
        var seen = word.load(ordering: .relaxed)
        while true {
            guard let (next, result) = transition(LaneWord(rawValue: seen)) else { return nil }
            let (exchanged, original) = word.compareExchange(
                expected: seen, desired: next.rawValue, ordering: .sequentiallyConsistent)
            if exchanged { return result }
            seen = original
        }
    }
}

/// The items of a lane by class, in the order of arrival within a class.
struct LaneItems {
    private var lists: [5 of NodeList] = .init(repeating: NodeList())
    private var occupied: UInt8 = 0

    /// The rank of the highest waiting item.
    var highestRank: Int? {
        occupied == 0 ? nil : 7 - occupied.leadingZeroBitCount
    }

    /// Adds what has arrived.
    mutating func append(contentsOf arrivals: consuming NodeList) {
        var arrivals = arrivals
        while let node = arrivals.popFirst() {
            let rank = QoSClass(node.job.priority).rank
            lists[rank].append(node)
            occupied |= 1 << UInt8(rank)
        }
    }

    /// Puts the tasks that were raised since they came to those of the class that they were raised to.
    ///
    /// - Parameter limit: how many to look at in each class, from the first on.
    /// - Returns: the lowest rank from which and the highest to which any went; `nil` when none was raised.
    mutating func raiseEscalated(limit: Int) -> (from: Int, to: Int)? {
        var raised: (from: Int, to: Int)?
        for rank in 0..<QoSClass.userInteractive.rank where occupied & (1 << UInt8(rank)) != 0 {
            var next = lists[rank].head
            for _ in 0..<min(limit, lists[rank].count) {
                guard let node = next else { break }
                next = node.next
                guard let live = ConcurrencyRuntime.livePriority(node.job).flatMap(QoSClass.init(rawPriority:)),
                    live.rank > rank
                else { continue }
                lists[rank].remove(node)
                lists[live.rank].append(node)
                occupied |= 1 << UInt8(live.rank)
                raised = (raised?.from ?? rank, max(raised?.to ?? 0, live.rank))
            }
            if lists[rank].isEmpty { occupied &= ~(1 << UInt8(rank)) }
        }
        return raised
    }

    /// Takes the first of the highest class.
    mutating func popHighest() -> JobNode? {
        guard let rank = highestRank else { return nil }
        let node = lists[rank].popFirst()
        if lists[rank].isEmpty { occupied &= ~(1 << UInt8(rank)) }
        return node
    }
}
