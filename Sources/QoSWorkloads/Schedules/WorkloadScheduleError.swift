/// A schedule that cannot be made.
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
        }
    }
}
