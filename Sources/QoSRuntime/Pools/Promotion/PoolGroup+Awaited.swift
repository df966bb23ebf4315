import QoSCore
import Synchronization

// What a worker looks for between two jobs, and how what waits is raised (`Docs/Protocols/promotion.md`).

extension PoolGroup {
    /// How many a worker looks at each time: it wants to go on to other work, or to sleep.
    private static let workerLimit = 64

    /// The classes whose workers look for themselves. The others are preempted too easily: a worker that ends its job while another
    /// looks at it waits for the end of that look.
    private static let lowestLooking = QoSClass.userInitiated.rank

    /// Whether a worker that has run a job, and has no other, looks for what its jobs may have begun to wait for.
    ///
    /// Where nothing waits, the loop does not look, so workers of every class but the lowest do, as long as others run something:
    /// another process may keep an awaited job off the processors.
    @inline(__always)
    func looksForAwaited(rank: Int) -> Bool {
        calls.backlogFlag.load(ordering: .relaxed)
            ? rank >= Self.lowestLooking : rank > 0 && calls.awake.load(ordering: .relaxed) > 1
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

    /// Puts a waiting task into the pool of the class that it was raised to.
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
}
