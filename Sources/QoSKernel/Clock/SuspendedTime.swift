internal import Glibc

/// The time in which the machine was suspended since its boot: the distance from CLOCK_MONOTONIC to CLOCK_BOOTTIME.
///
/// It is constant until the next suspension (clock_gettime(2)).
package enum SuspendedTime {
    /// Nanoseconds; never too few, and too many by the time between two readings of clocks. Some 60 ns; any thread.
    ///
    /// A thread that is interrupted between the readings reads again, a few times at most.
    package static func nanoseconds() -> UInt64 {
        var attempts = 4
        while true {
            let before = MonotonicClock.nanoseconds()
            var time = timespec()
            unsafe clock_gettime(CLOCK_BOOTTIME, &time)
            let boot = UInt64(clamping: time.clampedNanoseconds)
            attempts -= 1
            if attempts == 0 || MonotonicClock.nanoseconds() - before < 2_000 { return boot - min(boot, before) }
        }
    }
}
