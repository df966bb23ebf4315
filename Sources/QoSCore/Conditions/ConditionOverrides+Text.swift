extension ConditionOverrides {
    /// All texts that ``set(_:)`` takes: `thermal=nominal`, `thermal=fair`, and so on.
    public static var names: [String] {
        ThermalState.allCases.map { "thermal=\($0.rawValue)" } + ["low-power=on", "low-power=off"]
            + ForegroundState.allCases.map { "requests=\($0.rawValue)" }
            + PressureKind.allCases.flatMap { kind in
                PressureState.allCases.map { "\(kind.rawValue)=\($0.rawValue)" }
            }
    }

    /// Adds a simulated state that a text names: `thermal=serious`, `low-power=on`, `requests=delayed`,
    /// `memory=severe`.
    ///
    /// - Returns: `false` for an unknown condition or state; nothing changes then.
    public mutating func set(_ text: String) -> Bool {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2 else { return false }
        switch parts[0] {
        case "thermal":
            guard let state = ThermalState(rawValue: parts[1]) else { return false }
            thermal = state
        case "low-power":
            guard ["on", "off"].contains(parts[1]) else { return false }
            power = PowerState(lowPowerReasons: parts[1] == "on" ? [.request] : [])
        case "requests":
            guard let state = ForegroundState(rawValue: parts[1]) else { return false }
            foreground = state
        default:
            guard let kind = PressureKind(rawValue: parts[0]), let state = PressureState(rawValue: parts[1]) else {
                return false
            }
            pressure[kind] = state
        }
        return true
    }

    /// Takes the states of other overrides in the place of its own.
    package mutating func merge(_ others: ConditionOverrides) {
        thermal = others.thermal ?? thermal
        power = others.power ?? power
        foreground = others.foreground ?? foreground
        pressure.merge(others.pressure) { $1 }
    }
}
