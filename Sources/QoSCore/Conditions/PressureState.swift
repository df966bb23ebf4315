/// The shortage of one resource, in three steps (rule S4).
public enum PressureState: String, Sendable, Hashable, Codable, CaseIterable {
    /// Enough for all work.
    case nominal
    /// Work of low classes should give way.
    case elevated
    /// Requests suffer. Work of low classes should nearly stop.
    case severe
}

extension PressureState: Comparable {
    private var rank: Int {
        switch self {
        case .nominal: 0
        case .elevated: 1
        case .severe: 2
        }
    }

    /// Orders by shortage.
    public static func < (left: PressureState, right: PressureState) -> Bool { left.rank < right.rank }
}
