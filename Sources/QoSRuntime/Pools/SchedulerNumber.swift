import Synchronization

/// A scheduler's number among those of the process. A queued node names its scheduler by it (see ``JobNode/Place``).
///
/// The number is free again when the value ends, even if the scheduler's initializer throws.
///
/// Threading: any thread; lock-free.
struct SchedulerNumber: ~Copyable {
    /// 1…63; 0 for a scheduler that came when all numbers were taken.
    let value: Int

    /// The taken numbers, as bits; bit 0 is no number.
    private static let taken = Atomic<UInt64>(1)

    /// Takes a free number.
    init() {
        var seen = Self.taken.load(ordering: .relaxed)
        while true {
            let free = (~seen).trailingZeroBitCount
            guard free < 64 else {
                value = 0
                return
            }
            let (exchanged, original) = Self.taken.compareExchange(
                expected: seen, desired: seen | 1 << UInt64(free), ordering: .acquiringAndReleasing)
            if exchanged {
                value = free
                return
            }
            seen = original
        }
    }

    deinit {
        if value > 0 { Self.taken.bitwiseAnd(~(1 << UInt64(value)), ordering: .acquiringAndReleasing) }
    }
}
