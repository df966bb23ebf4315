import QoSKernel
import Synchronization

/// What happened to the work of one class so far; each number is explained in ``SchedulerSnapshot/Pool``.
///
/// Threading: any thread.
struct PoolCounters: ~Copyable {
    let movedIn = Atomic<UInt64>(0)
    let raisedByEffects = Atomic<UInt64>(0)
    let raisedByFence = Atomic<UInt64>(0)
    let raisedForLock = Atomic<UInt64>(0)
    let stalls = Atomic<UInt64>(0)
    let standIns = Atomic<UInt64>(0)

    /// What the class's threads that have ended had used of the processors, nanoseconds, and how many there were.
    let ended = Lock<(processorTime: UInt64, threads: Int)>((0, 0))

    /// Since when the job that has waited longest waits, monotonic nanoseconds, as the loop saw it; 0 when none waits.
    let oldestSince = Atomic<UInt64>(0)

    /// The longest that any was seen to wait, nanoseconds.
    let longestWait = Atomic<UInt64>(0)

    /// How long the last change of the class's width limit took, nanoseconds.
    let widthChange = Atomic<UInt64>(0)

    /// The loop has looked: since when the oldest waits.
    func noteOldest(since: UInt64?, now: UInt64) {
        oldestSince.store(since ?? 0, ordering: .relaxed)
        guard let since, now > since else { return }
        longestWait.max(now - since, ordering: .relaxed)
    }
}

/// How often work of a scheduler was raised so far because something of a higher class waits for it.
///
/// Threading: any thread.
struct PromotionCounters: ~Copyable {
    /// Waiting tasks that were moved to a higher pool.
    let moved = Atomic<UInt64>(0)

    /// Running tasks.
    let running = Atomic<UInt64>(0)
}
