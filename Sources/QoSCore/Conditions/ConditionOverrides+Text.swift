extension ConditionOverrides {
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
}
