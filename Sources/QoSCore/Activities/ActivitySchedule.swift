/// The times at which a background activity should run: once, or once in each interval (rule S5).
///
/// ```swift
/// let daily = ActivitySchedule.every(.seconds(86_400), tolerance: .seconds(7_200))
/// let soon = ActivitySchedule.once(after: .seconds(600))
/// ```
///
/// A run belongs to a *window*: from the moment at which it is due to the end of the tolerance. The time in which the
/// machine was suspended counts. Changes of the wall clock do not.
public struct ActivitySchedule: Sendable, Hashable, Codable {
    /// The answer to a window that ended without a run: the machine was off, or the conditions were bad.
    public enum MissedRunPolicy: String, Sendable, Hashable, Codable, CaseIterable {
        /// One late run takes the place of all missed ones.
        case runOnce
        /// The activity waits for its next window.
        case skip
    }

    /// The time from the start, or from one due moment to the next.
    public let interval: Duration

    /// The length of the window in which a run begins.
    public let tolerance: Duration

    /// Whether a run follows in each interval.
    public let isRepeating: Bool

    /// The answer to a missed window of a repeating activity. A single run is never skipped.
    public let ifMissed: MissedRunPolicy

    /// The time between a deferred run and the next attempt.
    public let retryDelay: Duration

    /// Returns the schedule of a single run.
    ///
    /// - Parameters:
    ///   - delay: the time until the run is due; zero is at once.
    ///   - tolerance: the length of the window; by default half of the delay.
    ///   - retryDelay: the time between a deferred run and the next attempt; by default a minute.
    public static func once(
        after delay: Duration = .zero, tolerance: Duration? = nil, retryDelay: Duration? = nil
    ) -> ActivitySchedule {
        ActivitySchedule(
            interval: delay, tolerance: tolerance ?? delay / 2, isRepeating: false, ifMissed: .runOnce,
            retryDelay: retryDelay ?? .seconds(60))
    }

    /// Returns the schedule of one run in each interval. The first is due after one interval.
    ///
    /// - Parameters:
    ///   - interval: the time from one due moment to the next; a millisecond or more.
    ///   - tolerance: the length of each window; less than the interval, and by default half of it.
    ///   - ifMissed: the answer to a window that ended without a run.
    ///   - retryDelay: the time between a deferred run and the next attempt; by default a sixteenth of the interval, at
    ///     most a minute.
    public static func every(
        _ interval: Duration, tolerance: Duration? = nil, ifMissed: MissedRunPolicy = .runOnce,
        retryDelay: Duration? = nil
    ) -> ActivitySchedule {
        ActivitySchedule(
            interval: interval, tolerance: tolerance ?? interval / 2, isRepeating: true, ifMissed: ifMissed,
            retryDelay: retryDelay ?? min(interval / 16, .seconds(60)))
    }

    /// The mistake in the schedule, with a remedy; `nil` if it makes sense.
    public var problem: String? {
        let longest = Duration.seconds(100 * 366 * 86_400)
        if isRepeating, interval < .milliseconds(1) { return "an interval of \(interval): use a millisecond or more" }
        if interval < .zero { return "a delay of \(interval): use zero or more" }
        if tolerance < .zero { return "a tolerance of \(tolerance): use zero or more" }
        if isRepeating, tolerance >= interval {
            return "a tolerance of \(tolerance) for an interval of \(interval): use less than the interval"
        }
        if retryDelay < .zero { return "a retry delay of \(retryDelay): use zero or more" }
        if max(interval, tolerance, retryDelay) > longest { return "a time above 100 years: use less" }
        return nil
    }
}

extension ActivitySchedule: CustomStringConvertible {
    /// The schedule in words: `every 3600.0 seconds, tolerance 1800.0 seconds`.
    public var description: String {
        "\(isRepeating ? "every" : "once after") \(interval), tolerance \(tolerance)"
    }
}
