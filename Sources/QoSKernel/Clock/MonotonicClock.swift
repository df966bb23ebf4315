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
        return UInt64(clamping: time.clampedNanoseconds)
    }
}

extension timespec {
    /// The time in nanoseconds, clamped to what an `Int64` holds: a clock may be set to any time.
    var clampedNanoseconds: Int64 {
        let (whole, overflows) = Int64(tv_sec).multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, isBeyond) = whole.addingReportingOverflow(Int64(tv_nsec))
        return overflows || isBeyond ? (tv_sec < 0 ? .min : .max) : sum
    }
}

extension Duration {
    /// The duration in nanoseconds, rounded up and clamped to 0…`UInt64.max`.
    package var clampedNanoseconds: UInt64 {
        let (seconds, attoseconds) = components
        guard seconds >= 0, attoseconds >= 0 else { return 0 }
        let (whole, overflows) = UInt64(seconds).multipliedReportingOverflow(by: 1_000_000_000)
        if overflows { return .max }
        return whole.addingSaturating((UInt64(attoseconds) + 999_999_999) / 1_000_000_000)
    }
}

extension UInt64 {
    /// Returns the sum, or the largest value if the sum overflows.
    package func addingSaturating(_ other: UInt64) -> UInt64 {
        let (sum, overflows) = addingReportingOverflow(other)
        return overflows ? .max : sum
    }
}
