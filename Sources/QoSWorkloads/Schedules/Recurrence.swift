internal import QoSCore

/// The window in which a run begins.
package struct RunWindow: Sendable, Hashable {
    /// The earliest time.
    package var start: WallTime
    /// The time by which the run begins if its conditions hold.
    package var end: WallTime

    package init(start: WallTime, end: WallTime) {
        self.start = start
        self.end = end
    }
}

/// A rule for the runs of a repeating item. Pure: the answers depend on the arguments alone.
protocol Recurrence: Sendable {
    /// Returns the first window of an item that is inserted now.
    func first(from now: WallTime) -> RunWindow

    /// Returns the window after a run.
    ///
    /// - Parameters:
    ///   - planned: the start of the run's window.
    ///   - start: the time at which the run began.
    ///   - keepsAll: whether windows that passed meanwhile have runs of their own.
    func next(after planned: WallTime, begunAt start: WallTime, keepsAll: Bool) -> RunWindow

    /// Returns the next regular window instead of a missed one; `nil` if the window is not missed.
    func skipping(_ window: RunWindow, now: WallTime) -> RunWindow?

    /// Returns the window instead of one that was planned before the clock was set back; `nil` to keep it.
    func replanned(_ window: RunWindow, lastRun: WallTime?, now: WallTime) -> RunWindow?
}

/// Runs at a fixed distance.
struct IntervalRecurrence: Recurrence {
    let interval: Duration
    let tolerance: Duration

    private func window(_ start: WallTime) -> RunWindow {
        RunWindow(start: start, end: start.advanced(by: tolerance))
    }

    func first(from now: WallTime) -> RunWindow { window(now.advanced(by: interval)) }

    private var grid: IntervalGrid { IntervalGrid(interval: interval, tolerance: tolerance) }

    private func window(nanoseconds start: Int64) -> RunWindow { window(WallTime(nanosecondsSince1970: start)) }

    func next(after planned: WallTime, begunAt start: WallTime, keepsAll: Bool) -> RunWindow {
        if keepsAll { return window(planned.advanced(by: interval)) }
        return window(
            nanoseconds: grid.next(
                after: planned.nanosecondsSince1970, begunAt: start.nanosecondsSince1970))
    }

    func skipping(_ missed: RunWindow, now: WallTime) -> RunWindow? {
        // A run that is late by less than an interval is not missed.
        guard missed.start.duration(to: now) >= interval else { return nil }
        return window(
            nanoseconds: grid.firstOpen(from: missed.start.nanosecondsSince1970, at: now.nanosecondsSince1970))
    }

    func replanned(_ planned: RunWindow, lastRun: WallTime?, now: WallTime) -> RunWindow? {
        let latest = window(now.advanced(by: interval))
        return planned.start > latest.start ? latest : nil
    }
}

/// Runs at the times of a cron expression.
struct CronRecurrence: Recurrence {
    let cron: CronSchedule

    /// A clock that is set back by less does not repeat runs, as in cron(8).
    static let smallChange: Duration = .seconds(3 * 3600)

    private func window(after time: WallTime) -> RunWindow {
        let start = cron.next(after: time) ?? .distantFuture
        return RunWindow(start: start, end: start)
    }

    func first(from now: WallTime) -> RunWindow { window(after: now) }

    func next(after planned: WallTime, begunAt start: WallTime, keepsAll: Bool) -> RunWindow {
        window(after: keepsAll ? planned : max(planned, start))
    }

    func skipping(_ missed: RunWindow, now: WallTime) -> RunWindow? {
        guard window(after: missed.start).start <= now else { return nil }
        return window(after: now)
    }

    func replanned(_ planned: RunWindow, lastRun: WallTime?, now: WallTime) -> RunWindow? {
        if let lastRun, lastRun > now, now.duration(to: lastRun) <= Self.smallChange { return nil }
        let next = window(after: now)
        return next.start < planned.start ? next : nil
    }
}
