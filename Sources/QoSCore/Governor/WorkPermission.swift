/// The work of a class that may run.
public enum WorkPermission: String, Sendable, Hashable, Codable, CaseIterable {
    /// All work.
    case run
    /// All but discretionary work. Discretionary work can wait: prefetching, clean-up, remote copies.
    case deferDiscretionary
    /// None.
    case stop
}

extension WorkPermission: Comparable {
    private var rank: Int {
        switch self {
        case .run: 0
        case .deferDiscretionary: 1
        case .stop: 2
        }
    }

    /// Orders by restriction: `run` is the lowest.
    public static func < (left: WorkPermission, right: WorkPermission) -> Bool { left.rank < right.rank }
}
