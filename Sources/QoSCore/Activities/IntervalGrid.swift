/// The windows of runs at a fixed distance (rule S5). A value: times are nanoseconds of any one clock.
///
/// Runs in their windows stay on the grid of the interval. Two runs always begin at least `interval − tolerance` apart.
/// Activities and workloads share it.
package struct IntervalGrid: Sendable, Hashable {
    /// The distance of two windows, in nanoseconds; more than zero.
    package let interval: Int64
    /// The length of a window, in nanoseconds; 0 to the interval.
    package let tolerance: Int64

    /// Makes a grid.
    package init(interval: Duration, tolerance: Duration) {
        self.interval = interval.schedulerNanoseconds
        self.tolerance = tolerance.schedulerNanoseconds
    }

    /// Returns the end of the window that begins at a time.
    package func end(of due: Int64) -> Int64 { due.addingSaturating(tolerance) }

    /// Returns the begin of the window after a run: the later of `due + interval` and `start + interval − tolerance`.
    ///
    /// - Parameters:
    ///   - due: the begin of the run's window.
    ///   - start: the begin of the run.
    package func next(after due: Int64, begunAt start: Int64) -> Int64 {
        max(due.addingSaturating(interval), start.addingSaturating(interval - tolerance))
    }

    /// Returns the begin of the first window from one on that has not ended at a time.
    package func firstOpen(from due: Int64, at time: Int64) -> Int64 {
        let end = end(of: due)
        guard time > end else { return due }
        let (late, isBeyond) = time.subtractingReportingOverflow(end)
        let missed = ((isBeyond ? .max : late) - 1) / interval + 1
        let (skipped, overflows) = missed.multipliedReportingOverflow(by: interval)
        return overflows ? .max : due.addingSaturating(skipped)
    }
}
