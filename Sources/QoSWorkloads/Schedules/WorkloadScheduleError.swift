/// A schedule, or a condition of time, that cannot be kept.
public enum WorkloadScheduleError: Error, Sendable, Hashable {
    /// The cron expression is malformed: the expression, and the mistake.
    case malformed(String, String)
    /// The cron expression matches no date.
    case neverFires(String)
    /// The time zone is not in the database.
    case unknownTimeZone(String, database: String)
    /// The interval is not positive, or the tolerance is negative or longer than the interval.
    case invalidInterval(Duration, tolerance: Duration)
    /// The trigger names no path.
    case noPaths
    /// A path of the trigger does not begin at the root of the file system.
    case pathNotAbsolute(String)
    /// The text is no time of the day.
    case malformedTime(String)
    /// The window of time begins and ends at the same time.
    case emptyWindow(String)
    /// The window of time names no day.
    case noWeekdays
    /// The idle time is not positive.
    case invalidIdleTime(Duration)
}

extension WorkloadScheduleError: CustomStringConvertible {
    /// The mistake and its remedy.
    public var description: String {
        switch self {
        case .malformed(let expression, let mistake):
            "the cron expression '\(expression)' cannot be read: \(mistake)"
        case .neverFires(let expression):
            "the cron expression '\(expression)' never fires: no date matches its day, month and day of week"
        case .unknownTimeZone(let name, let database):
            "there is no time zone '\(name)' in \(database): use a name like Europe/Berlin, or install tzdata"
        case .invalidInterval(let interval, let tolerance):
            "an interval of \(interval) with a tolerance of \(tolerance) cannot be kept: "
                + "use a positive interval, and a tolerance from zero to the interval"
        case .noPaths:
            "a schedule on file events needs at least one path"
        case .pathNotAbsolute(let path):
            "the path '\(path)' cannot be watched: use one from the root on, as /srv/photos"
        case .malformedTime(let text):
            "'\(text)' is no time of the day: use two digits each, as 06:30, up to 23:59; a window may end at 24:00"
        case .emptyWindow(let time):
            "a window from \(time) to \(time) is empty: use 00:00 to 24:00 for the whole day"
        case .noWeekdays:
            "a window of time needs at least one day of the week"
        case .invalidIdleTime(let length):
            "an idle time of \(length) cannot be waited for: use more than zero"
        }
    }
}
