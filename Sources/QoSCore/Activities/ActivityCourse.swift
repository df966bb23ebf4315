/// The decision when the next run of an activity falls (rule S5). A value; time is an argument.
///
/// A run begins inside its window `[due, due + tolerance]`. If it could not, the schedule's policy decides: it begins
/// late, or the window is skipped. A run that finished sets the next window:
///
///     next due = the later of: due + interval, beginning of the run + interval − tolerance
///
/// ``IntervalGrid`` has this rule. Two runs never begin in the same window. A deferred run does not count, and the
/// window stays open.
///
/// The value can be stored. It then finds the passed time in the clocks, see ``ElapsedTime``.
package struct ActivityCourse: Sendable, Hashable, Codable {
    /// The answer to a look.
    package enum Look: Sendable, Hashable {
        /// The next window, or the next attempt, begins after this number of nanoseconds.
        case waits(nanoseconds: Int64)
        /// A run may begin. The window ends after this number of nanoseconds.
        case due(nanoseconds: Int64)
        /// A run may begin. The window has ended.
        case late
        /// A run goes on.
        case running
        /// No run follows.
        case ended
    }

    private enum Phase: Sendable, Hashable, Codable {
        case waiting
        case running(since: Int64)
        case ended
    }

    /// The rule.
    package let schedule: ActivitySchedule
    private var time: ElapsedTime
    private var phase = Phase.waiting
    /// The beginning of the window, in elapsed nanoseconds.
    private var due: Int64
    /// The time of the next attempt after a deferred run.
    private var notBefore: Int64 = 0

    /// Begins the course of a schedule that makes sense (``ActivitySchedule/problem``).
    package init(_ schedule: ActivitySchedule, at now: ClockReading) {
        self.schedule = schedule
        time = ElapsedTime(at: now)
        due = schedule.interval.schedulerNanoseconds
    }

    /// The elapsed nanoseconds at the last event.
    package var elapsed: Int64 { time.nanoseconds }

    private var grid: IntervalGrid { IntervalGrid(interval: schedule.interval, tolerance: schedule.tolerance) }
    private var windowEnd: Int64 { grid.end(of: due) }

    /// Asks whether a run may begin.
    package mutating func looked(at now: ClockReading) -> Look {
        let time = time.advance(to: now)
        switch phase {
        case .ended: return .ended
        case .running: return .running
        case .waiting: break
        }
        if schedule.ifMissed == .skip, schedule.isRepeating { skipMissedWindows(at: time) }
        let earliest = max(due, notBefore)
        if time < earliest { return .waits(nanoseconds: earliest - time) }
        return time <= windowEnd ? .due(nanoseconds: windowEnd - time) : .late
    }

    /// Notes that a run begins.
    package mutating func began(at now: ClockReading) {
        phase = .running(since: time.advance(to: now))
    }

    /// Notes that the run has ended for good, with success or with an error.
    package mutating func finished(at now: ClockReading) {
        time.advance(to: now)
        guard case .running(let since) = phase else { return }
        guard schedule.isRepeating else {
            phase = .ended
            return
        }
        due = grid.next(after: due, begunAt: since)
        phase = .waiting
    }

    /// Notes that the run gave way, or was interrupted. It begins again after the retry delay.
    package mutating func deferred(at now: ClockReading) {
        let time = time.advance(to: now)
        guard case .running = phase else { return }
        notBefore = time.addingSaturating(schedule.retryDelay.schedulerNanoseconds)
        phase = .waiting
    }

    private mutating func skipMissedWindows(at time: Int64) {
        due = grid.firstOpen(from: due, at: max(time, notBefore))
    }
}
