import QoSCore
import QoSKernel
import Synchronization

// A worker's search between two jobs, and the raise of waiting work (`Docs/Inside/Protocols/promotion.md`).

extension PoolGroup {
    /// The number of nodes of each queue at which a worker looks, or a thread that raises a task: it wants to go on.
    private static let workerLimit = 64

    /// The lowest of the classes whose workers look for themselves. The others are preempted too easily: a worker that
    /// ends its job during another worker's look waits for the end of that look.
    private static let lowestLooking = QoSClass.userInitiated.rank

    /// Returns whether a worker that has run a job, and has no other, looks for work that its jobs may await.
    ///
    /// While no work waits, the loop does not look. So workers of every class but the lowest look, as long as other
    /// workers run jobs: another process may keep an awaited job off the processors.
    @inline(__always)
    func looksForAwaited(rank: Int) -> Bool {
        calls.backlog.isMade
            ? rank >= Self.lowestLooking : rank > 0 && calls.awake.load(ordering: .relaxed) > 1
    }

    /// Returns whether a worker of a class looks at the waits of other tasks. A task whose wait is over waits for the end
    /// of the look, so a thread that is preempted easily leaves it to the loop.
    func looksAtHiddenWaits(rank: Int) -> Bool { rank >= Self.lowestLooking }

    /// Raises waiting or running work of the lower pools for which higher work waits (rule I4). On a worker of that
    /// rank, between two jobs.
    ///
    /// - Parameter waiter: the address of the task that the worker ran last, which may have begun to wait; 0 for none.
    func raiseAwaited(below rank: Int, by waiter: UInt) {
        if looksAtHiddenWaits(rank: rank) { HiddenWaits.look() }
        for lower in 0..<rank {
            pools[lower].raiseWaiting(limit: Self.workerLimit) { moveRaised($0, from: lower, to: $1) }
            promoteRunning(rank: lower, awaitedBy: waiter == 0 ? nil : (waiter, rank))
        }
    }

    /// Raises what waits in the queues of the lower pools, after the program has raised a task that may wait for it. Any
    /// thread.
    func raiseQueued(below rank: Int) {
        for lower in 0..<rank {
            pools[lower].raiseQueued(limit: Self.workerLimit) { moveRaised($0, from: lower, to: $1) }
        }
    }

    /// Returns the class in which cancelled tasks of a stopped class come to their end: the lowest one above it that is not
    /// stopped. `nil` for a class that is not stopped.
    ///
    /// A cancelled task gives back what it holds, and its caller waits for that. It gets no more than its turn in the other
    /// class, until it suspends.
    func classOfCancelled(rank: Int) -> QoSClass? {
        guard pools[rank].hasWork(), admission.widthLimit(rank: rank) == 0 else { return nil }
        let running = (rank + 1..<QoSClass.allCases.count).first { admission.widthLimit(rank: $0) > 0 }
        return running.map { QoSClass(atRank: $0) }
    }

    /// Submits a raised task, which has been taken out of its queue, to the pool of its class. The reason is asked for
    /// only if an observer listens: a name is read from a file.
    func moveRaised(
        _ node: JobNode, from rank: Int, to qosClass: QoSClass, recorded: DiagnosticsRecord.Reason = .awaited,
        _ reason: @autoclosure () -> PromotionReason? = nil
    ) {
        noteMoved(to: qosClass.rank)
        observe(.promotedWaiting(from: QoSClass(atRank: rank), to: qosClass, reason() ?? node.reasonForEscalation))
        node.changesClass()
        // Not by the clamp: the class is the serving one, or that of cancelled tasks.
        pools[qosClass.rank].add(node)
        // The first record in a page of the ring costs some 10 µs. The raised task does not wait for it.
        record(movedFrom: QoSClass(atRank: rank), to: qosClass, recorded)
    }

    /// Notes that waiting work was moved into a higher pool. Any thread.
    func noteMoved(to rank: Int, count: UInt64 = 1) {
        promotions.moved.wrappingAdd(count, ordering: .relaxed)
        pools[rank].counters.movedIn.value.wrappingAdd(count, ordering: .relaxed)
    }

    /// Notes that waiting calls of an actor were raised, and tells the observer. Any thread.
    func noteRaisedCalls(_ ranks: (from: Int, to: Int)) {
        noteMoved(to: ranks.to)
        record(movedFrom: QoSClass(atRank: ranks.from), to: QoSClass(atRank: ranks.to))
        observe(
            .promotedWaiting(
                from: QoSClass(atRank: ranks.from), to: QoSClass(atRank: ranks.to), .escalated(task: nil, waiter: nil)))
    }
}

extension JobNode {
    /// The reason for the promotion of a node that was taken out of its queue, with the names of both tasks.
    fileprivate var reasonForEscalation: PromotionReason {
        guard tag.isJob else { return .escalated(task: nil, waiter: nil) }
        return .escalated(
            task: ConcurrencyRuntime.name(of: job), waiter: ConcurrencyRuntime.nameOfWaiter(for: job))
    }
}
