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

    /// Looks through the queues if it is time. The loop's thread.
    ///
    /// - Returns: when to look next; `nil` while nothing waits.
    func rescanIfDue() -> UInt64? {
        // Once it is closed, what is put into a worker's queue would stay there.
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
        // A worker that wakes counts itself and then looks whether it has to wake the loop: one of the two sees the other.
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
        // Whoever queues sets the flag after it has published its work; so either it sees the flag taken back and sets it
        // again, or its work is seen here.
        group.calls.backlogFlag.store(false, ordering: .sequentiallyConsistent)
        guard hasBacklog else {
            onLoop.nextRescan = nil
            group.calls.isLookingSlowly.store(false, ordering: .relaxed)
            return nil
        }
        group.calls.backlogFlag.store(true, ordering: .sequentiallyConsistent)
        return onLoop.nextRescan
    }

    /// When the loop looks next: earlier than it would, if it was told that something was raised. `nil` for at once.
    private var nextRescanAsTold: UInt64? {
        guard let nextRescan = onLoop.nextRescan, group.calls.itemsChanged.load(ordering: .sequentiallyConsistent)
        else {
            return onLoop.nextRescan
        }
        return min(nextRescan, onLoop.lastRescan.addingSaturating(Self.toldInterval))
    }

    /// Whether the next look may be far away: nothing runs in the pools that could begin to wait, and nobody asks for one.
    private func isSlowEnough(_ isAsleep: Bool) -> Bool {
        isAsleep && !group.calls.itemsChanged.load(ordering: .sequentiallyConsistent)
    }

    /// Since when jobs wait. The loop's thread.
    private func noteAges(at now: UInt64) {
        for rank in 0..<QoSClass.allCases.count {
            let (taken, waiting) = unsafe group.pools[rank].takenAndWaiting
            let since = onLoop.ages[rank].looked(taken: taken, waiting: waiting, at: now)
            unsafe group.pools[rank].counters.noteOldest(since: since, now: now)
        }
    }

    /// Whether something waits, or more workers run than there are processors, or a raise has not been looked at.
    private var hasBacklog: Bool {
        group.calls.itemsChanged.load(ordering: .sequentiallyConsistent)
            || group.calls.awake.load(ordering: .sequentiallyConsistent) > group.width
            || (0..<QoSClass.allCases.count).contains { unsafe group.pools[$0].hasWork() }
    }

    /// Looks at the workers if it is time, and ends the threads that are not needed any more. The loop's thread.
    ///
    /// - Returns: when to look next; `nil` while all workers sleep and there are no more than there should be.
    func watchIfDue() -> UInt64? {
        guard !group.isClosed, group.calls.isWatching.load(ordering: .relaxed) else { return nil }
        let now = MonotonicClock.nanoseconds()
        if now < onLoop.nextWatch { return onLoop.nextWatch }
        if onLoop.nextWatch != 0 {
            followTopology(at: now)
            // For what threads of others await: nobody else looks while nothing waits.
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
