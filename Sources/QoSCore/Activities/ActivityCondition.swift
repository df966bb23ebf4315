/// A condition for the beginning of a background activity (rule S5).
///
/// If it no longer holds during a run, the run is asked to defer. A state that the machine does not show counts as
/// nominal.
public enum ActivityCondition: Sendable, Hashable, Codable {
    /// The machine does not run on a battery.
    case onMainsPower
    /// The heat is at most this.
    case thermal(atMost: ThermalState)
    /// The shortage of a resource is at most this.
    case pressure(PressureKind, atMost: PressureState)
    /// The program's own requests are in time.
    case requestsInTime

    /// Returns the reason why the condition does not hold, for people; `nil` if it holds.
    public func obstacle(in conditions: SystemConditions) -> String? {
        switch self {
        case .onMainsPower:
            conditions.power.state.source == .mains ? nil : "the machine runs on a battery"
        case .thermal(let limit):
            conditions.thermal.state <= limit ? nil : "thermal state \(conditions.thermal)"
        case .pressure(let kind, let limit):
            conditions[kind].state <= limit ? nil : "\(kind.rawValue) \(conditions[kind])"
        case .requestsInTime:
            conditions.foreground.state == .nominal ? nil : "requests \(conditions.foreground)"
        }
    }
}
