import QoSCore
import QoSEventLoop
import Synchronization

// When the loop has to look, and what a worker looks for itself.

extension PoolGroup {
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

    func moveRaised(_ node: JobNode, from rank: Int, to qosClass: QoSClass) {
        noteMoved(to: qosClass.rank)
        observe(.promotedWaiting(from: QoSClass(atRank: rank), to: qosClass, .escalated))
        node.changesClass()
        unsafe pools[qosClass.rank].submit(node)
    }

    /// Waiting work was put into a higher pool. Any thread.
    func noteMoved(to rank: Int, count: UInt64 = 1) {
        promotions.moved.wrappingAdd(count, ordering: .relaxed)
        unsafe pools[rank].counters.movedIn.wrappingAdd(count, ordering: .relaxed)
    }

    /// A worker wakes up: from now on the loop looks at the workers now and then, until all of them sleep.
    @inline(__always)
    func beginWatching() {
        if isWatching.load(ordering: .relaxed) { return }
        isWatching.store(true, ordering: .sequentiallyConsistent)
        loop.wake()
    }
}
