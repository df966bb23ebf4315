import QoSKernel
import Synchronization

/// The numbers of events in one class so far; ``SchedulerSnapshot/Pool`` explains each. They are in the memory that the
/// process shows (``DiagnosticsLayout``).
///
/// Threading: any thread.
@safe
struct PoolCounters: ~Copyable {
    private let words: DiagnosticsWords

    /// Keeps the words of the pool that all threads write off the cache lines of those that they only read, where they
    /// were when the counters stood here.
    private let padding = InlineArray<8, UInt64>(repeating: 0)

    init(_ words: DiagnosticsWords) { self.words = words }

    private typealias Word = DiagnosticsLayout.Class

    var movedIn: UnsafeShared<Atomic<UInt64>> { unsafe UnsafeShared(words[Word.movedIn]) }
    var raisedByEffects: UnsafeShared<Atomic<UInt64>> { unsafe UnsafeShared(words[Word.raisedByEffects]) }
    var raisedByFence: UnsafeShared<Atomic<UInt64>> { unsafe UnsafeShared(words[Word.raisedByFence]) }
    var raisedForLock: UnsafeShared<Atomic<UInt64>> { unsafe UnsafeShared(words[Word.raisedForLock]) }
    var stalls: UnsafeShared<Atomic<UInt64>> { unsafe UnsafeShared(words[Word.stalls]) }
    var standIns: UnsafeShared<Atomic<UInt64>> { unsafe UnsafeShared(words[Word.standIns]) }

    /// The processor time of the class's threads that have ended, nanoseconds, and their number.
    let ended = Lock<(processorTime: UInt64, threads: Int)>((0, 0))

    /// The time since which the oldest waiting job waits, monotonic nanoseconds, as the loop saw it; 0 when none waits.
    var oldestSince: UnsafeShared<Atomic<UInt64>> { unsafe UnsafeShared(words[Word.oldestSince]) }

    /// The longest wait of a job that the loop has seen, nanoseconds.
    var longestWait: UnsafeShared<Atomic<UInt64>> { unsafe UnsafeShared(words[Word.longestWait]) }

    /// The duration of the last change of the class's width limit, nanoseconds.
    var widthChange: UnsafeShared<Atomic<UInt64>> { unsafe UnsafeShared(words[Word.widthChange]) }

    /// Notes that a worker's line is in use. The loop's thread.
    func noteLine(_ index: Int) {
        unsafe words[Word.lines].pointee.max(UInt64(index + 1), ordering: .relaxed)
    }

    /// Notes the number of waiting jobs, and the time since which the oldest waits, as the loop saw it.
    func noteWaiting(_ count: Int, since: UInt64?, now: UInt64) {
        unsafe words[Word.queued].pointee.store(UInt64(count), ordering: .relaxed)
        oldestSince.value.store(since ?? 0, ordering: .relaxed)
        guard let since, now > since else { return }
        longestWait.value.max(now - since, ordering: .relaxed)
    }

    /// Notes that no job waits. The loop's thread.
    func noteNoneWaits() { unsafe words[Word.queued].pointee.store(0, ordering: .relaxed) }

    /// Notes the width and its limit; `Int.max` is no limit. The loop's thread.
    func noteWidth(_ width: Int, limit: Int) {
        unsafe words[Word.width].pointee.store(UInt64(width), ordering: .relaxed)
        unsafe words[Word.widthLimit].pointee.store(limit == .max ? 0 : UInt64(limit) + 1, ordering: .relaxed)
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
