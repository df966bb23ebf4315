/// The heat of the machine, in four steps (rule S1).
///
/// Work is saved in the same steps (rule S2). A machine without sensors is `nominal`.
public enum ThermalState: String, Sendable, Hashable, Codable, CaseIterable {
    /// No sensor asks for anything.
    case nominal
    /// The machine is warm, and fans may be audible. Programs begin to save.
    case fair
    /// The machine slows itself down, or is about to. Programs reduce their use of CPU and I/O, and stop optional work.
    case serious
    /// The machine is close to switching itself off. Programs do the least that answers their users.
    case critical
}

extension ThermalState: Comparable {
    private var rank: Int {
        switch self {
        case .nominal: 0
        case .fair: 1
        case .serious: 2
        case .critical: 3
        }
    }

    /// Orders by heat.
    public static func < (left: ThermalState, right: ThermalState) -> Bool { left.rank < right.rank }
}
