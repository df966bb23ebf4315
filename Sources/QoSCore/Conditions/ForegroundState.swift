/// The latency of the program's own requests, compared with their limit (rule S4).
public enum ForegroundState: String, Sendable, Hashable, Codable, CaseIterable {
    /// Requests are in time, or too few of them were recorded.
    case nominal
    /// Requests exceed their limit: background work hurts them.
    case delayed
}

extension ForegroundState: Comparable {
    private var rank: Int {
        switch self {
        case .nominal: 0
        case .delayed: 1
        }
    }

    /// Orders by latency.
    public static func < (left: ForegroundState, right: ForegroundState) -> Bool { left.rank < right.rank }
}
