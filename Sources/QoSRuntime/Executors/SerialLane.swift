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

    let core: SchedulerCore

    private let arrivals = InjectionQueue()
    private let word = Atomic<UInt8>(0)
    private var waiting = LaneItems()
    private let activations: UnsafeMutablePointer<UInt>

    /// As whose the jobs are run; set once, before the first of them.
    private var executor: UnownedSerialExecutor?

    init(core: SchedulerCore) {
        self.core = core
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
    }

    private func submitActivation(_ transition: (LaneWord) -> (LaneWord, Int?)?) {
        guard let submitted = update(transition), let rank = submitted else { return }
        unsafe LaneActivation(words: activations + 4 * rank).submit(for: self, rank: rank, to: core)
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
            waiting.append(contentsOf: arrivals.takeAll())
            submitActivation { word in word.runEnded(leaving: waiting.highestRank) }
            // What arrived after the last look and before the end of the run saw the running bit and left it to us.
        } while !arrivals.isEmpty && update({ word in word.runResumed().map { ($0, ()) } }) != nil
    }

    private func runItems(rank: Int?) {
        for _ in 0..<Self.batch {
            waiting.append(contentsOf: arrivals.takeAll())
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

    /// Takes the first of the highest class.
    mutating func popHighest() -> JobNode? {
        guard let rank = highestRank else { return nil }
        let node = lists[rank].popFirst()
        if lists[rank].isEmpty { occupied &= ~(1 << UInt8(rank)) }
        return node
    }
}
