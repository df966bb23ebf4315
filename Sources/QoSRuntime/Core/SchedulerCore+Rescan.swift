import QoSCore
import QoSEventLoop
import QoSKernel
import Synchronization

// The loop finds raised tasks in a pool that is too low by looking, as long as work waits.

extension SchedulerCore {
    /// The number of nodes of a worker's queue for each look. It bounds the time for which the queue's lock is held.
    private static let rescanLimit = 1024

    /// Looks through the queues if it is time. The loop's thread.
    ///
    /// - Returns: the time of the next look; `nil` while no work waits.
    func rescanIfDue() -> UInt64? {
        // Once the scheduler is closed, a node that is put into a worker's queue would stay there.
        guard !group.isClosed, group.calls.backlog.isMade else { return nil }
        let now = MonotonicClock.nanoseconds()
        switch onLoop.looks.workWaits(at: now, isAsleep: isAsleep, told: group.calls.told) {
        case .waits(let time): return time
        case .looks(let isSlow): group.calls.isLookingSlowly.store(isSlow, ordering: .sequentiallyConsistent)
        }
        // A worker that wakes counts itself, and then looks whether it has to wake the loop. One of the two sees the
        // other.
        onLoop.looks.rescanBegan(at: now, isAsleep: isAsleep)
        group.loopCounters.looks.wrappingAdd(1, ordering: .relaxed)
        group.lookAtWorkers(at: now)
        onLoop.looks.workersLooked(blocked: group.blocking.total)
        group.calls.forgetTold()
        HiddenWaits.look()
        for rank in QoSClass.userInitiated.rank..<QoSClass.allCases.count { group.pools[rank].wakeBesideLate() }
        for rank in 0..<QoSClass.userInteractive.rank {
            let cancelledClass = group.classOfCancelled(rank: rank)
            group.pools[rank].rescan(limit: Self.rescanLimit, cancelledClass: cancelledClass) { node, qosClass in
                let isCancelled = cancelledClass == qosClass && ConcurrencyRuntime.isCancelled(node)
                group.moveRaised(
                    node, from: rank, to: qosClass, recorded: isCancelled ? .cancelled : .awaited,
                    isCancelled ? .cancelled : nil)
            }
            group.promoteRunning(rank: rank)
        }
        group.resumeAfterClamp()
        noteAges(at: now)
        if group.calls.backlog.withdraw(unless: { hasBacklog }) {
            onLoop.looks.workEnded()
            for rank in 0..<QoSClass.allCases.count { group.pools[rank].counters.noteNoneWaits() }
            group.calls.isLookingSlowly.store(false, ordering: .relaxed)
        }
        return onLoop.looks.nextRescan
    }

    /// Whether no worker is awake: the pools run nothing that could begin to wait.
    private var isAsleep: Bool { group.calls.awake.load(ordering: .sequentiallyConsistent) == 0 }

    /// Notes the times since which jobs wait. The loop's thread.
    private func noteAges(at now: UInt64) {
        for rank in 0..<QoSClass.allCases.count {
            let (taken, waiting) = group.pools[rank].takenAndWaiting
            let since = onLoop.ages[rank].looked(taken: taken, waiting: waiting, at: now)
            group.pools[rank].counters.noteWaiting(waiting, since: since, now: now)
        }
    }

    /// Whether work waits, more workers run than there are processors, or the loop has not looked at a raise.
    private var hasBacklog: Bool {
        group.calls.told != .nothing
            || group.calls.awake.load(ordering: .sequentiallyConsistent) > group.width
            || (0..<QoSClass.allCases.count).contains { group.pools[$0].hasWork() }
    }

    /// Looks at the workers if it is time, and ends the threads that are no longer needed. The loop's thread.
    ///
    /// - Returns: the time of the next look; `nil` while all workers sleep and there are no more than there should be.
    func watchIfDue() -> UInt64? {
        guard !group.isClosed, group.calls.watch.isMade else { return nil }
        let now = MonotonicClock.nanoseconds()
        switch onLoop.looks.workersAwake(at: now) {
        case .waits(let time): return time
        case .begins: break
        case .looks:
            followTopology(at: now)
            HiddenWaits.look()
            // For tasks that threads of others await: no other thread looks while no work waits.
            for rank in 0..<QoSClass.userInteractive.rank { group.promoteRunning(rank: rank) }
            group.lookAtWorkers(at: now)
            group.places.look(width: group.width)
            retireExtraWorkers()
        }
        if group.calls.watch.withdraw(unless: { isWorthWatching }) { onLoop.looks.workersSleep() }
        return onLoop.looks.nextWatch
    }

    private var isWorthWatching: Bool {
        group.calls.awake.load(ordering: .sequentiallyConsistent) > 0
            || (0..<QoSClass.allCases.count).contains { group.pools[$0].started > group.pools[$0].limit }
            || onLoop.threads.contains { group.pools[$0.rank].workers[$0.index].retires }
    }
}
