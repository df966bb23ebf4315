import QoSKernel
import Synchronization

/// The numbers of events in one class so far; ``SchedulerSnapshot/Pool`` explains each.
///
/// Threading: any thread.
struct PoolCounters: ~Copyable {
    let movedIn = Atomic<UInt64>(0)
    let raisedByEffects = Atomic<UInt64>(0)
    let raisedByFence = Atomic<UInt64>(0)
    let raisedForLock = Atomic<UInt64>(0)
    let stalls = Atomic<UInt64>(0)
    let standIns = Atomic<UInt64>(0)

    /// The processor time of the class's threads that have ended, nanoseconds, and their number.
    let ended = Lock<(processorTime: UInt64, threads: Int)>((0, 0))

    /// The time since which the oldest waiting job waits, monotonic nanoseconds, as the loop saw it; 0 when none waits.
    let oldestSince = Atomic<UInt64>(0)

    /// The longest wait of a job that the loop has seen, nanoseconds.
    let longestWait = Atomic<UInt64>(0)

    /// The duration of the last change of the class's width limit, nanoseconds.
    let widthChange = Atomic<UInt64>(0)

    /// Notes the time since which the oldest job waits, as the loop saw it.
    func noteOldest(since: UInt64?, now: UInt64) {
        oldestSince.store(since ?? 0, ordering: .relaxed)
        guard let since, now > since else { return }
        longestWait.max(now - since, ordering: .relaxed)
    }
}

/// The numbers of promotions in a scheduler so far, because work of a higher class waits.
///
/// Threading: any thread.
struct PromotionCounters: ~Copyable {
    /// The number of waiting tasks that were moved to a higher pool.
    let moved = Atomic<UInt64>(0)

    /// The number of running tasks that were promoted.
    let running = Atomic<UInt64>(0)
}

/// The numbers of turns and looks of a scheduler's loop so far. Written by the loop's thread.
struct LoopCounters: ~Copyable {
    /// The number of turns: the loop was woken, or its timer fired.
    let turns = Atomic<UInt64>(0)

    /// The number of looks through the queues for awaited work.
    let looks = Atomic<UInt64>(0)
}
