import Synchronization

/// Numbers for the schedulers of the process, by which a queued node names the scheduler it is in (see ``JobNode/Place``).
///
/// Threading: any thread; lock-free.
enum SchedulerNumbers {
    /// The numbers that are taken, as bits; bit 0 is no number.
    private static let taken = Atomic<UInt64>(1)

    /// A free number, 1…63; 0 when all are taken.
    static func take() -> Int {
        var seen = taken.load(ordering: .relaxed)
        while true {
            let free = (~seen).trailingZeroBitCount
            guard free < 64 else { return 0 }
            let (exchanged, original) = taken.compareExchange(
                expected: seen, desired: seen | 1 << UInt64(free), ordering: .acquiringAndReleasing)
            if exchanged { return free }
            seen = original
        }
    }

    /// The scheduler has ended, and no node is in its queues.
    static func giveBack(_ number: Int) {
        guard number > 0 else { return }
        taken.bitwiseAnd(~(1 << UInt64(number)), ordering: .acquiringAndReleasing)
    }
}
