/// A day of the week.
public enum Weekday: Int, Sendable, Hashable, Codable, CaseIterable {
    /// Day 0.
    case sunday
    /// Day 1.
    case monday
    /// Day 2.
    case tuesday
    /// Day 3.
    case wednesday
    /// Day 4.
    case thursday
    /// Day 5.
    case friday
    /// Day 6.
    case saturday
}

extension Weekday: Comparable, CustomStringConvertible {
    /// Orders from Sunday to Saturday.
    public static func < (left: Weekday, right: Weekday) -> Bool { left.rawValue < right.rawValue }

    /// The first three letters of the name: `Sun`.
    public var description: String {
        switch self {
        case .sunday: "Sun"
        case .monday: "Mon"
        case .tuesday: "Tue"
        case .wednesday: "Wed"
        case .thursday: "Thu"
        case .friday: "Fri"
        case .saturday: "Sat"
        }
    }
}
