/// The time since a value was made, over suspensions of the machine, restarts, and changes of the wall clock.
///
/// It never decreases. Within a boot it follows the continuous clock. Over a restart of the machine it follows the wall
/// clock. If the wall clock was set back meanwhile, the time between the two readings is unknown and counts as zero.
package struct ElapsedTime: Sendable, Hashable, Codable {
    private var last: ClockReading

    /// The elapsed nanoseconds at the last reading.
    package private(set) var nanoseconds: Int64 = 0

    /// Begins at zero.
    package init(at now: ClockReading) {
        last = now
    }

    /// Takes a reading, and returns the elapsed nanoseconds.
    ///
    /// A reading of the same boot that is older than the last one changes nothing.
    @discardableResult
    package mutating func advance(to now: ClockReading) -> Int64 {
        let isSameBoot = now.boot == last.boot
        let passed =
            isSameBoot
            ? now.continuous.subtractingSaturating(last.continuous) : now.wall.subtractingSaturating(last.wall)
        if passed < 0, isSameBoot { return nanoseconds }
        nanoseconds = nanoseconds.addingSaturating(max(0, passed))
        last = now
        return nanoseconds
    }
}

extension Int64 {
    /// Returns the sum, or the nearest value that there is.
    func addingSaturating(_ other: Int64) -> Int64 {
        let (sum, overflows) = addingReportingOverflow(other)
        return overflows ? (other < 0 ? .min : .max) : sum
    }

    /// Returns the difference, or the nearest value that there is.
    func subtractingSaturating(_ other: Int64) -> Int64 {
        let (difference, overflows) = subtractingReportingOverflow(other)
        return overflows ? (other < 0 ? .max : .min) : difference
    }
}
