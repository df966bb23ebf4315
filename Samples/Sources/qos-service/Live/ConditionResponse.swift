internal import QoSCore

/// A condition of the machine with its thresholds, as `Docs/Conditions.md` has them. Keys are written in snake case.
struct ConditionResponse: Encodable, Equatable {
    /// The label that conditions of workloads use, too.
    let label: String
    let state: String
    let reason: String
    /// Whether the machine shows it at all.
    let isKnown: Bool
    /// Whether the state is the best one.
    let isNominal: Bool
    let rises: String
    let falls: String

    /// Makes the list of all conditions.
    static func list(_ conditions: SystemConditions, latencyLimit: Duration) -> [ConditionResponse] {
        let limit = Int(latencyLimit / .milliseconds(1))
        let power = conditions.power.state
        let first = [
            ConditionResponse(
                label: "heat", state: "\(conditions.thermal.state)", reason: conditions.thermal.reason,
                isKnown: conditions.thermal.isKnown, isNominal: conditions.thermal.state == .nominal,
                rises: "fair 5 °C below the passive trip point, serious at it, critical at the hot one",
                falls: "4 °C less, for 10 s"),
            ConditionResponse(
                label: "requests", state: "\(conditions.foreground.state)", reason: conditions.foreground.reason,
                isKnown: conditions.foreground.isKnown, isNominal: conditions.foreground.state == .nominal,
                rises: "99 of 100 quick searches of 5 s take more than \(limit) ms",
                falls: "less than \(limit * 4 / 5) ms, for 5 s"),
            ConditionResponse(
                label: "low-power mode", state: power.isLowPowerMode ? "on" : "off", reason: conditions.power.reason,
                isKnown: conditions.power.isKnown, isNominal: !power.isLowPowerMode,
                rises: "battery at 20 %, or switched on", falls: "above 25 %, or mains"),
        ]
        return first
            + PressureKind.allCases.map { kind in
                let condition = conditions[kind]
                let (rises, falls) = thresholds(of: kind)
                return ConditionResponse(
                    label: kind.rawValue, state: "\(condition.state)", reason: condition.reason,
                    isKnown: condition.isKnown, isNominal: condition.state == .nominal, rises: rises, falls: falls)
            }
    }

    private static func thresholds(of kind: PressureKind) -> (rises: String, falls: String) {
        switch kind {
        case .cpu: ("elevated at 40 %, severe at 80 % of the time, for 2 s", "below 20 %, 60 %, for 5 s")
        case .io: ("elevated at 20 %, severe at 50 % of the time, for 1 s", "below 10 %, 35 %, for 5 s")
        case .memory: ("elevated at 5 %, severe at 20 % of the time", "below 2 %, 10 %, for 10 s")
        case .steal: ("elevated at 10 %, severe at 30 % of the time, for 2 s", "below 5 %, 20 %, for 10 s")
        case .throttling: ("elevated at 5 %, severe at 25 % of the periods, for 2 s", "below 2 %, 15 %, for 10 s")
        case .freeMemory: ("elevated at 10 % left, severe at 5 %", "12 %, 7 % left, for 10 s")
        case .freeDisk: ("elevated at 5 % left, severe at 2 %", "6 %, 3 % left, for 10 s")
        }
    }
}
