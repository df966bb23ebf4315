import ArgumentParser
import QoSCore

/// A condition and its simulated state, as on the command line: `thermal=serious`.
struct SimulatedState: ExpressibleByArgument {
    private enum Change {
        case thermal(ThermalState)
        case lowPower(Bool)
        case requests(ForegroundState)
        case pressure(PressureKind, PressureState)
    }

    private let change: Change

    /// - Returns: `nil` for an unknown condition or state; the parser then names the argument.
    init?(argument: String) {
        let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2 else { return nil }
        switch parts[0] {
        case "thermal":
            guard let state = ThermalState(rawValue: parts[1]) else { return nil }
            change = .thermal(state)
        case "low-power":
            guard ["on", "off"].contains(parts[1]) else { return nil }
            change = .lowPower(parts[1] == "on")
        case "requests":
            guard let state = ForegroundState(rawValue: parts[1]) else { return nil }
            change = .requests(state)
        default:
            guard let kind = PressureKind(rawValue: parts[0]), let state = PressureState(rawValue: parts[1]) else {
                return nil
            }
            change = .pressure(kind, state)
        }
    }

    /// Adds the state to others.
    func apply(to overrides: inout ConditionOverrides) {
        switch change {
        case .thermal(let state): overrides.thermal = state
        case .lowPower(let isOn): overrides.power = PowerState(lowPowerReasons: isOn ? [.request] : [])
        case .requests(let state): overrides.foreground = state
        case .pressure(let kind, let state): overrides.pressure[kind] = state
        }
    }
}
