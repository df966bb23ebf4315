/// A point on the monotonic clock of the scheduler's decisions.
///
/// The pure values read no clock: the caller passes the time, real or virtual.
package struct SchedulerInstant: Sendable, Hashable {
    /// Nanoseconds since an arbitrary origin, the same for all instants of one scheduler.
    package var nanoseconds: Int64

    /// Makes an instant from nanoseconds since the caller's origin.
    package init(nanoseconds: Int64) {
        self.nanoseconds = nanoseconds
    }

    /// Returns the instant that is a number of nanoseconds later; saturates at the end of the range.
    package func advanced(byNanoseconds delta: Int64) -> SchedulerInstant {
        let (sum, overflow) = nanoseconds.addingReportingOverflow(delta)
        return SchedulerInstant(nanoseconds: overflow ? (delta < 0 ? .min : .max) : sum)
    }
}

extension SchedulerInstant: Comparable {
    /// Orders by time.
    package static func < (left: SchedulerInstant, right: SchedulerInstant) -> Bool {
        left.nanoseconds < right.nanoseconds
    }
}

extension Duration {
    /// The duration in whole nanoseconds, rounded towards zero; it saturates at ±292 years.
    package var schedulerNanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let (scaled, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        guard !overflow else { return seconds < 0 ? .min : .max }
        let (sum, carried) = scaled.addingReportingOverflow(attoseconds / 1_000_000_000)
        return carried ? (seconds < 0 ? .min : .max) : sum
    }
}
