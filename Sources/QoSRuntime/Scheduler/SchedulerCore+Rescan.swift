import QoSCore
import QoSEventLoop
import QoSKernel
import Synchronization

// Raised tasks that wait in a pool that is too low are found by looking, as long as something waits.

extension SchedulerCore {
    /// How often the loop looks through the queues while something waits in them. Nanoseconds.
    private static let rescanInterval: UInt64 = 2_000_000

    /// How often at most, when it is told each time that something was raised. Nanoseconds.
    private static let toldInterval: UInt64 = 1_000_000

    /// How often, while workers are blocked and work waits: those that stand in for them may block in turn. Nanoseconds.
    private static let detectionInterval: UInt64 = 250_000

    /// How often, while no worker is awake: what waits is paused, and somebody outside of the pools may begin to wait for it.
    private static let slowInterval: UInt64 = 100_000_000

    /// How often the workers are looked at while any is awake. Nanoseconds.
    private static let watchInterval: UInt64 = 250_000_000

    /// How many nodes of a worker's queue are looked at each time: bounds the time for which its lock is held.
    private static let rescanLimit = 1024

    /// How many a worker looks at each time: it wants to go on to other work, or to sleep.
    private static let workerLimit = 64

    /// The classes whose workers look for themselves. The others are preempted too easily: a worker that ends its job while another
    /// looks at it waits for the end of that look.
    private static let lowestLooking = QoSClass.userInitiated.rank

    /// Work has been queued behind workers that are all busy: the loop begins to look through the queues.
    @inline(__always)
    func noteBacklog() {
        if backlogFlag.load(ordering: .relaxed) { return }
        backlogFlag.store(true, ordering: .sequentiallyConsistent)
        loop.wake()
    }

    /// What a running item of a work queue is raised to has changed: the loop looks at what runs, once at least.
    func noteItemsChanged() {
        let isKnown = itemsChanged.exchange(true, ordering: .sequentiallyConsistent)
        noteBacklog()
        if !isKnown || isLookingSlowly.load(ordering: .sequentiallyConsistent) { loop.wake() }
    }

    /// Whether a worker that has run a job, and has no other, looks for what its jobs may have begun to wait for.
    ///
    /// Where nothing waits, the loop does not look, so workers of every class but the lowest do, as long as others run something:
    /// another process may keep an awaited job off the processors.
    @inline(__always)
    func looksForAwaited(rank: Int) -> Bool {
        backlogFlag.load(ordering: .relaxed)
            ? rank >= Self.lowestLooking : rank > 0 && awake.load(ordering: .relaxed) > 1
    }

    /// Raises what waits or runs in the lower pools and something higher waits for (rule I4). A worker of that rank, between two jobs.
    ///
    /// - Parameter waiter: the address of the task that the worker ran last, which may have begun to wait; 0 for none.
    func raiseAwaited(below rank: Int, by waiter: UInt) {
        for lower in 0..<rank {
            unsafe pools[lower].raiseWaiting(limit: Self.workerLimit) { moveRaised($0, from: lower, to: $1) }
            promoteRunning(rank: lower, awaitedBy: waiter == 0 ? nil : (waiter, rank))
        }
    }

    private func moveRaised(_ node: JobNode, from rank: Int, to qosClass: QoSClass) {
        noteMoved(to: qosClass.rank)
        observe(.promotedWaiting(from: QoSClass(atRank: rank), to: qosClass, .escalated))
        node.changesClass()
        unsafe pools[qosClass.rank].submit(node)
    }

    /// Looks through the queues if it is time. The loop's thread.
    ///
    /// - Returns: when to look next; `nil` while nothing waits.
    func rescanIfDue() -> UInt64? {
        // Once it is closed, what is put into a worker's queue would stay there.
        guard !isClosed, backlogFlag.load(ordering: .relaxed) else { return nil }
        let now = MonotonicClock.nanoseconds()
        let isAsleep = awake.load(ordering: .sequentiallyConsistent) == 0
        if let time = nextRescanAsTold, now < time, !isLookingSlowly.load(ordering: .relaxed) || isSlowEnough(isAsleep)
        {
            return time
        }
        lastRescan = now
        let isDetecting = blockedWorkers.load(ordering: .relaxed) > 0
        isLookingSlowly.store(isAsleep, ordering: .sequentiallyConsistent)
        // A worker that wakes counts itself and then looks whether it has to wake the loop: one of the two sees the other.
        let isSlow = isAsleep && awake.load(ordering: .sequentiallyConsistent) == 0
        nextRescan = now.addingSaturating(
            isSlow ? Self.slowInterval : isDetecting ? Self.detectionInterval : Self.rescanInterval)
        lookAtWorkers(at: now)
        itemsChanged.store(false, ordering: .sequentiallyConsistent)
        for rank in 0..<QoSClass.userInteractive.rank {
            unsafe pools[rank].rescan(limit: Self.rescanLimit) { moveRaised($0, from: rank, to: $1) }
            promoteRunning(rank: rank)
        }
        noteAges(at: now)
        if hasBacklog { return nextRescan }
        // Whoever queues sets the flag after it has published its work; so either it sees the flag taken back and sets it
        // again, or its work is seen here.
        backlogFlag.store(false, ordering: .sequentiallyConsistent)
        guard hasBacklog else {
            nextRescan = nil
            isLookingSlowly.store(false, ordering: .relaxed)
            return nil
        }
        backlogFlag.store(true, ordering: .sequentiallyConsistent)
        return nextRescan
    }

    /// When the loop looks next: earlier than it would, if it was told that something was raised. `nil` for at once.
    private var nextRescanAsTold: UInt64? {
        guard let nextRescan, itemsChanged.load(ordering: .sequentiallyConsistent) else { return nextRescan }
        return min(nextRescan, lastRescan.addingSaturating(Self.toldInterval))
    }

    /// Whether the next look may be far away: nothing runs in the pools that could begin to wait, and nobody asks for one.
    private func isSlowEnough(_ isAsleep: Bool) -> Bool {
        isAsleep && !itemsChanged.load(ordering: .sequentiallyConsistent)
    }

    /// Waiting work was put into a higher pool. Any thread.
    func noteMoved(to rank: Int, count: UInt64 = 1) {
        tasksMoved.wrappingAdd(count, ordering: .relaxed)
        unsafe pools[rank].counters.movedIn.wrappingAdd(count, ordering: .relaxed)
    }

    /// Since when jobs wait. The loop's thread.
    private func noteAges(at now: UInt64) {
        for rank in 0..<QoSClass.allCases.count {
            let (taken, waiting) = unsafe pools[rank].takenAndWaiting
            let since = ages[rank].looked(taken: taken, waiting: waiting, at: now)
            unsafe pools[rank].counters.noteOldest(since: since, now: now)
        }
    }

    /// Whether something waits, or more workers run than there are processors, or a raise has not been looked at.
    private var hasBacklog: Bool {
        itemsChanged.load(ordering: .sequentiallyConsistent)
            || awake.load(ordering: .sequentiallyConsistent) > width
            || (0..<QoSClass.allCases.count).contains { unsafe pools[$0].hasWork() }
    }

    /// A worker wakes up: from now on the loop looks at the workers now and then, until all of them sleep.
    @inline(__always)
    func beginWatching() {
        if isWatching.load(ordering: .relaxed) { return }
        isWatching.store(true, ordering: .sequentiallyConsistent)
        loop.wake()
    }

    /// Looks at the workers if it is time, and ends the threads that are not needed any more. The loop's thread.
    ///
    /// - Returns: when to look next; `nil` while all workers sleep and there are no more than there should be.
    func watchIfDue() -> UInt64? {
        guard !isClosed, isWatching.load(ordering: .relaxed) else { return nil }
        let now = MonotonicClock.nanoseconds()
        if now < nextWatch { return nextWatch }
        if nextWatch != 0 {
            followTopology(at: now)
            // For what threads of others await: nobody else looks while nothing waits.
            for rank in 0..<QoSClass.userInteractive.rank { promoteRunning(rank: rank) }
            lookAtWorkers(at: now)
            watchPlaces()
            retireExtraWorkers()
        }
        nextWatch = now.addingSaturating(Self.watchInterval)
        if isWorthWatching { return nextWatch }
        isWatching.store(false, ordering: .sequentiallyConsistent)
        if isWorthWatching {
            isWatching.store(true, ordering: .sequentiallyConsistent)
            return nextWatch
        }
        nextWatch = 0
        return nil
    }

    private var isWorthWatching: Bool {
        awake.load(ordering: .sequentiallyConsistent) > 0
            || (0..<QoSClass.allCases.count).contains { unsafe pools[$0].started > pools[$0].limit }
            || threads.contains { unsafe pools[$0.rank].workers[$0.index].retires }
    }
}
