internal import Glibc

/// The clock that deadlines of this package are measured on: CLOCK_MONOTONIC, which never jumps and stands still
/// while the machine is suspended.
package enum MonotonicClock {
    /// Nanoseconds since an arbitrary point, the same for all threads of the machine.
    ///
    /// Any thread may call it; it costs some 20 ns (vDSO) and cannot fail: the clock always exists
    /// (clock_gettime(2)).
    package static func nanoseconds() -> UInt64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}
