import CQoSShims
import QoSCore
import Synchronization

/// A queue that runs its items one at a time, in the pool of the class of its highest waiting item. Our serial
/// executors for actors are made of it, and later serial queues.
///
/// Items come in through a lock-free queue. A thread that finds the lane idle puts an activation into the pool of the
/// item's class. An item of a higher class puts another activation into a higher pool, which overtakes the first (rules
/// I3, I4).
///
/// A worker that an activation reaches runs the items by class, in the order of arrival within a class. It goes on
/// while the next item is of its own class, and otherwise submits an activation to another pool
/// (`Docs/Inside/Protocols/serial-lane.md`).
///
/// Threading: any thread.
// SAFETY: only the thread that has set the running bit of `word` uses `waiting`; the rest is atomic or never changes.
@safe
final class SerialLane: @unchecked Sendable {
    /// The number of items that one activation runs before the pool's other work gets its turn.
    private static let batch = 64

    /// The number of waiting items of each class at which the runner looks before it chooses the next item, when another
    /// thread has asked for that. A look through all of them would hold up a lane with a crowd at each item.
    private static let lookedAtBetweenItems = 1024

    let group: PoolGroup

    private let arrivals = InjectionQueue()
    private let word = Atomic<UInt8>(0)

    /// The rank of the pool in which the lane runs.
    private let runningRank = Atomic<Int>(0)

    /// 1 + the rank of the highest item that came while the lane ran, since the running item began; 0 for none.
    private let arrivedRank = Atomic<Int>(0)

    /// Whether the runner has to look for raised tasks among the waiting ones, before it chooses the next item.
    private let mustLook = Atomic<Bool>(false)
    private var waiting = LaneItems()
    private let activations: UnsafeMutablePointer<UInt>

    /// The executor on behalf of which the jobs run. Set once, before the first of them.
    private var executor: UnownedSerialExecutor?

    init(group: PoolGroup) {
        self.group = group
        unsafe activations = .allocate(capacity: QoSClass.allCases.count * 4)
        unsafe activations.initialize(repeating: 0, count: QoSClass.allCases.count * 4)
    }

    deinit {
        unsafe activations.deallocate()
    }

    /// Sets the executor of this lane. Once, before the first job. The executor has to outlive its jobs, like every
    /// executor.
    func belongs(to executor: UnownedSerialExecutor) {
        unsafe self.executor = executor
    }

    /// Whether the calling thread runs an item of this lane.
    var isCurrent: Bool {
        unsafe cqos_current_lane() == Unmanaged.passUnretained(self).toOpaque()
    }

    /// Adds a job. Lock-free; wakes a worker only if the lane is idle or has to be raised.
    ///
    /// The job may run before this returns, and may drop the last reference to the lane. The concurrency library holds
    /// no reference to the executor during the call, so this function retains the lane.
    func enqueue(_ job: UnownedJob) {
        // SAFETY: retained once and released once.
        let reference = unsafe Unmanaged.passRetained(self)
        defer { unsafe reference.release() }
        let rank = QoSClass(job.priority).rank
        let node = JobNode(job)
        node.prepare(.job(executor: 0))
        arrivals.push(node)
        submitActivation { word in word.itemAdded(rank: rank).map { ($0, rank) } }
        if LaneWord(rawValue: word.load(ordering: .relaxed)).isRunning { arrivedWhileRunning(rank: rank) }
    }

    /// Notes that an item came while another one runs. If that one runs in a lower pool, calls the loop to raise its
    /// worker.
    private func arrivedWhileRunning(rank: Int) {
        guard rank > runningRank.load(ordering: .relaxed) else { return }
        arrivedRank.max(rank + 1, ordering: .sequentiallyConsistent)
        group.calls.noteItemsChanged()
    }

    /// The rank of the highest item that came while a lower one runs; `nil` for none. Any thread.
    var awaitedRank: Int? {
        // A thread that looks at a running lane cannot see the waiting items: the runner owns them.
        mustLook.store(true, ordering: .relaxed)
        let rank = arrivedRank.load(ordering: .sequentiallyConsistent) - 1
        return rank < 0 ? nil : rank
    }

    /// Looks for raised tasks among the waiting ones, and puts the lane into the pool of the highest (rule I4). Any
    /// thread.
    ///
    /// Meanwhile the calling thread owns the lane like a runner, but runs no item. If a worker runs the lane, that
    /// worker has to look.
    func raiseAwaited(limit: Int) {
        guard update({ word in word.runResumed().map { ($0, ()) } }) != nil else {
            return mustLook.store(true, ordering: .relaxed)
        }
        repeat {
            takeArrivals()
            if let raised = waiting.raiseEscalated(limit: limit) { group.noteRaisedCalls(raised) }
            submitActivation { word in word.runEnded(leaving: waiting.highestRank) }
        } while mayResume
    }

    private func takeArrivals() {
        waiting.append(contentsOf: arrivals.takeAll())
    }

    /// Whether an item came after the last look and before the end of the run. Its submitter left it to the thread that
    /// ends the run, which owns the lane again.
    private var mayResume: Bool {
        !arrivals.isEmpty && update { word in word.runResumed().map { ($0, ()) } } != nil
    }

    private func submitActivation(_ transition: (LaneWord) -> (LaneWord, Int?)?) {
        guard let submitted = update(transition), let rank = submitted else { return }
        unsafe LaneActivation(words: activations + 4 * rank).submit(for: self, rank: rank, to: group)
    }

    /// Runs the lane after an activation has reached a worker.
    ///
    /// - Parameter mayMove: `false` if there is no longer a pool into which the lane could submit another activation.
    func activationReached(rank: Int, mayMove: Bool) {
        guard update({ $0.activationTaken(rank: rank) }) == true else { return }
        let outer = unsafe cqos_current_lane()
        unsafe cqos_set_current_lane(Unmanaged.passUnretained(self).toOpaque())
        defer { unsafe cqos_set_current_lane(outer) }
        runItems(rank: mayMove ? rank : nil)
        repeat {
            takeArrivals()
            submitActivation { word in word.runEnded(leaving: waiting.highestRank) }
        } while mayResume
    }

    private func runItems(rank: Int?) {
        runningRank.store(rank ?? QoSClass.userInteractive.rank, ordering: .relaxed)
        for _ in 0..<Self.batch {
            // Acquires, so that the item whose rank goes here is among the arrivals below.
            if arrivedRank.load(ordering: .acquiring) != 0 { arrivedRank.store(0, ordering: .sequentiallyConsistent) }
            takeArrivals()
            if mustLook.load(ordering: .relaxed) {
                mustLook.store(false, ordering: .relaxed)
                _ = waiting.raiseEscalated(limit: Self.lookedAtBetweenItems)
            }
            guard let highest = waiting.highestRank, rank == nil || highest == rank, !isAfterClamp(rank) else { return }
            guard let node = waiting.popHighest() else { return }
            if let executor = unsafe executor { unsafe node.job.runSynchronously(on: executor) }
        }
    }

    /// Whether the items of a rank belong to a higher pool than the calling worker's: a clamp is over (rule M3). The
    /// worker then stops, and the next activation goes to that pool.
    private func isAfterClamp(_ rank: Int?) -> Bool {
        guard group.clamp.isOver, let rank, let worker = Worker.current else { return false }
        return group.servingClass(for: QoSClass(atRank: rank)) > worker.qosClass
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

    /// The items at which the next look of ``raiseEscalated(limit:)`` begins, by class; `nil` for the first. Never one
    /// that has left its list.
    private var cursors: [5 of JobNode?] = .init(repeating: nil)

    /// The rank of the highest waiting item.
    var highestRank: Int? {
        occupied == 0 ? nil : 7 - occupied.leadingZeroBitCount
    }

    /// Adds the items that have arrived.
    mutating func append(contentsOf arrivals: consuming NodeList) {
        var arrivals = arrivals
        while let node = arrivals.popFirst() {
            let rank = QoSClass(node.job.priority).rank
            lists[rank].append(node)
            occupied |= 1 << UInt8(rank)
        }
    }

    /// Moves tasks that were raised since they came to the items of their new class.
    ///
    /// - Parameter limit: the number of items to look at in each class, from the end of the last look on.
    /// - Returns: the lowest rank from which a task went, and the highest rank to which one went; `nil` when none was
    ///   raised.
    mutating func raiseEscalated(limit: Int) -> (from: Int, to: Int)? {
        var raised: (from: Int, to: Int)?
        for rank in 0..<QoSClass.userInteractive.rank where occupied & (1 << UInt8(rank)) != 0 {
            var next = cursors[rank] ?? lists[rank].head
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
            cursors[rank] = next
            if lists[rank].isEmpty { occupied &= ~(1 << UInt8(rank)) }
        }
        return raised
    }

    /// Takes the first item of the highest class.
    mutating func popHighest() -> JobNode? {
        guard let rank = highestRank else { return nil }
        let node = lists[rank].popFirst()
        if node == cursors[rank] { cursors[rank] = nil }
        if lists[rank].isEmpty { occupied &= ~(1 << UInt8(rank)) }
        return node
    }
}
