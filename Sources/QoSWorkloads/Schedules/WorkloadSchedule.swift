/// The times at which an item runs.
public enum WorkloadSchedule: Sendable, Hashable, Codable {
    /// Once, as soon as possible.
    case now
    /// Once, a duration after the insertion. A clock that is set does not make it longer.
    case after(Duration)
    /// Once, at a time of the wall clock or later.
    case at(WallTime)
    /// Again and again; the first time one interval after the insertion.
    ///
    /// Two runs begin at least the interval less the tolerance apart. Each run falls at a point inside of its window,
    /// which is as long as the tolerance.
    case every(Duration, tolerance: Duration)
    /// At the times of a cron expression.
    case cron(CronSchedule)
    /// After changes of files.
    case onFileEvents(FileEventTrigger)

    /// Again and again, with a tolerance of a tenth of the interval; see ``every(_:tolerance:)``.
    public static func every(_ interval: Duration) -> WorkloadSchedule {
        .every(interval, tolerance: interval / 10)
    }

    /// At the times of a cron expression; see ``CronSchedule``.
    ///
    /// - Throws: ``WorkloadScheduleError``.
    public static func cron(
        _ expression: String, timeZone: String = "UTC"
    ) throws(WorkloadScheduleError) -> WorkloadSchedule {
        .cron(try CronSchedule(expression, timeZone: timeZone))
    }

    /// Whether the item has more than one run.
    public var repeats: Bool {
        switch self {
        case .now, .after, .at: false
        case .every, .cron, .onFileEvents: true
        }
    }

    /// Throws if the schedule cannot be kept.
    func validate() throws(WorkloadScheduleError) {
        switch self {
        case .every(let interval, let tolerance) where interval <= .zero || tolerance < .zero || tolerance > interval:
            throw .invalidInterval(interval, tolerance: tolerance)
        case .onFileEvents(let trigger) where trigger.paths.isEmpty:
            throw .noPaths
        case .onFileEvents(let trigger):
            if let relative = trigger.paths.first(where: { !$0.hasPrefix("/") || $0.utf8.contains(0) }) {
                throw .pathNotAbsolute(relative)
            }
        default: break
        }
    }

    /// Whether changes of files start its runs.
    package var isOnFileEvents: Bool {
        if case .onFileEvents = self { true } else { false }
    }

    /// The rule of a schedule that goes by the clock and repeats.
    var recurrence: (any Recurrence)? {
        switch self {
        case .every(let interval, let tolerance): IntervalRecurrence(interval: interval, tolerance: tolerance)
        case .cron(let cron): CronRecurrence(cron: cron)
        case .now, .after, .at, .onFileEvents: nil
        }
    }
}

extension WorkloadSchedule: CustomStringConvertible {
    /// The schedule in words: `every 3600.0 seconds, within 360.0 seconds`.
    public var description: String {
        switch self {
        case .now: "once, at once"
        case .after(let length): "once, after \(length)"
        case .at(let time): "once, at \(time)"
        case .every(let interval, let tolerance): "every \(interval), within \(tolerance)"
        case .cron(let cron): "cron \(cron.expression) (\(cron.timeZone))"
        case .onFileEvents(let trigger): "after changes of \(trigger.paths.joined(separator: ", "))"
        }
    }
}
