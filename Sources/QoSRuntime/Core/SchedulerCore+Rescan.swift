import QoSCore
import QoSEventLoop
import QoSKernel
import Synchronization

// The loop finds raised tasks in a pool that is too low by looking, as long as work waits.

extension SchedulerCore {
    /// The interval of the loop's looks through the queues while work waits in them. Nanoseconds.
    private static let rescanInterval: UInt64 = 2_000_000

    /// The least interval of looks when each raise is reported to the loop. Nanoseconds.
    private static let toldInterval: UInt64 = 1_000_000

    /// The interval while workers are blocked and work waits: those that stand in for them may block in turn.
    /// Nanoseconds.
    private static let detectionInterval: UInt64 = 250_000

    /// The interval while no worker is awake: the queued work is paused, and a thread outside of the pools may begin to
    /// wait for it. Nanoseconds.
    private static let slowInterval: UInt64 = 100_000_000

    /// The interval of looks at the workers while any is awake. Nanoseconds.
    private static let watchInterval: UInt64 = 250_000_000

    /// The number of nodes of a worker's queue for each look. It bounds the time for which the queue's lock is held.
    private static let rescanLimit = 1024

    /// Looks through the queues if it is time. The loop's thread.
    ///
    /// - Returns: the time of the next look; `nil` while no work waits.
    func rescanIfDue() -> UInt64? {
        // Once the scheduler is closed, a node that is put into a worker's queue would stay there.
        guard !group.isClosed, group.calls.backlogFlag.load(ordering: .relaxed) else { return nil }
        let now = MonotonicClock.nanoseconds()
        let isAsleep = group.calls.awake.load(ordering: .sequentiallyConsistent) == 0
        if let time = nextRescanAsTold, now < time,
            !group.calls.isLookingSlowly.load(ordering: .relaxed) || isSlowEnough(isAsleep)
        {
            return time
        }
        onLoop.lastRescan = now
        let isDetecting = group.blocking.now.load(ordering: .relaxed) > 0
        group.calls.isLookingSlowly.store(isAsleep, ordering: .sequentiallyConsistent)
        // A worker that wakes counts itself, and then looks whether it has to wake the loop. One of the two sees the
        // other.
        let isSlow = isAsleep && group.calls.awake.load(ordering: .sequentiallyConsistent) == 0
        onLoop.nextRescan = now.addingSaturating(
            isSlow ? Self.slowInterval : isDetecting ? Self.detectionInterval : Self.rescanInterval)
        group.lookAtWorkers(at: now)
        group.calls.itemsChanged.store(false, ordering: .sequentiallyConsistent)
        for rank in 0..<QoSClass.userInteractive.rank {
            unsafe group.pools[rank].rescan(limit: Self.rescanLimit) { group.moveRaised($0, from: rank, to: $1) }
            group.promoteRunning(rank: rank)
        }
        noteAges(at: now)
        if hasBacklog { return onLoop.nextRescan }
        // A thread that queues work sets the flag after it has published the work. So either the thread sees the flag
        // cleared and sets it again, or the loop sees the work here.
        group.calls.backlogFlag.store(false, ordering: .sequentiallyConsistent)
        guard hasBacklog else {
            onLoop.nextRescan = nil
            group.calls.isLookingSlowly.store(false, ordering: .relaxed)
            return nil
        }
        group.calls.backlogFlag.store(true, ordering: .sequentiallyConsistent)
        return onLoop.nextRescan
    }

    /// The time of the loop's next look, earlier if a raise was reported to the loop; `nil` for at once.
    private var nextRescanAsTold: UInt64? {
        guard let nextRescan = onLoop.nextRescan, group.calls.itemsChanged.load(ordering: .sequentiallyConsistent)
        else {
            return onLoop.nextRescan
        }
        return min(nextRescan, onLoop.lastRescan.addingSaturating(Self.toldInterval))
    }

    /// Whether the next look may be far away: the pools run nothing that could begin to wait, and no thread asks for a
    /// look.
    private func isSlowEnough(_ isAsleep: Bool) -> Bool {
        isAsleep && !group.calls.itemsChanged.load(ordering: .sequentiallyConsistent)
    }

    /// Notes the times since which jobs wait. The loop's thread.
    private func noteAges(at now: UInt64) {
        for rank in 0..<QoSClass.allCases.count {
            let (taken, waiting) = unsafe group.pools[rank].takenAndWaiting
            let since = onLoop.ages[rank].looked(taken: taken, waiting: waiting, at: now)
            unsafe group.pools[rank].counters.noteOldest(since: since, now: now)
        }
    }

    /// Whether work waits, more workers run than there are processors, or the loop has not looked at a raise.
    private var hasBacklog: Bool {
        group.calls.itemsChanged.load(ordering: .sequentiallyConsistent)
            || group.calls.awake.load(ordering: .sequentiallyConsistent) > group.width
            || (0..<QoSClass.allCases.count).contains { unsafe group.pools[$0].hasWork() }
    }

    /// Looks at the workers if it is time, and ends the threads that are no longer needed. The loop's thread.
    ///
    /// - Returns: the time of the next look; `nil` while all workers sleep and there are no more than there should be.
    func watchIfDue() -> UInt64? {
        guard !group.isClosed, group.calls.isWatching.load(ordering: .relaxed) else { return nil }
        let now = MonotonicClock.nanoseconds()
        if now < onLoop.nextWatch { return onLoop.nextWatch }
        if onLoop.nextWatch != 0 {
            followTopology(at: now)
            // For tasks that threads of others await: no other thread looks while no work waits.
            for rank in 0..<QoSClass.userInteractive.rank { group.promoteRunning(rank: rank) }
            group.lookAtWorkers(at: now)
            group.places.look(width: group.width)
            retireExtraWorkers()
        }
        onLoop.nextWatch = now.addingSaturating(Self.watchInterval)
        if isWorthWatching { return onLoop.nextWatch }
        group.calls.isWatching.store(false, ordering: .sequentiallyConsistent)
        if isWorthWatching {
            group.calls.isWatching.store(true, ordering: .sequentiallyConsistent)
            return onLoop.nextWatch
        }
        onLoop.nextWatch = 0
        return nil
    }

    private var isWorthWatching: Bool {
        group.calls.awake.load(ordering: .sequentiallyConsistent) > 0
            || (0..<QoSClass.allCases.count).contains { unsafe group.pools[$0].started > group.pools[$0].limit }
            || onLoop.threads.contains { unsafe group.pools[$0.rank].workers[$0.index].retires }
    }
}
