import QoSCore

/// The deadlines of a timer, as a value.
struct TimerCourse: Sendable, Equatable {
    /// The next deadline in monotonic nanoseconds; `nil` when no more follows.
    private(set) var next: UInt64?

    /// Nanoseconds; `nil` for a timer that fires once.
    let interval: UInt64?

    /// Nanoseconds; `nil` leaves the tolerance to the class.
    let tolerance: UInt64?

    init(first: UInt64, interval: UInt64?, tolerance: UInt64?) {
        next = first
        self.interval = interval
        self.tolerance = tolerance
    }

    /// Takes the passed deadlines, which count as one firing each.
    ///
    /// - Parameter now: monotonic nanoseconds.
    /// - Returns: the number of deadlines; 0 for none.
    mutating func take(now: UInt64) -> Int {
        guard let deadline = next, deadline <= now else { return 0 }
        guard let interval else {
            next = nil
            return 1
        }
        let passed = (now - deadline) / interval + 1
        let (offset, overflows) = passed.multipliedReportingOverflow(by: interval)
        let (following, isBeyond) = deadline.addingReportingOverflow(offset)
        next = overflows || isBeyond ? nil : following
        return Int(clamping: passed)
    }

    /// Returns the window of the next firing; `nil` when none follows.
    func window(now: UInt64, of qosClass: QoSClass) -> TimerWindow? {
        next.map { TimerWindow(deadline: $0, now: now, tolerance: tolerance, of: qosClass) }
    }
}
