/// States that take the place of observed ones, for tests and for trying things out.
///
/// ```swift
/// var overrides = ConditionOverrides()
/// overrides.thermal = .serious
/// print(overrides.applied(to: SystemConditions()).thermal)    // serious: simulated
/// ```
public struct ConditionOverrides: Sendable, Hashable {
    /// The simulated heat; `nil` keeps the observed one.
    public var thermal: ThermalState?
    /// The simulated power supply; `nil` keeps the observed one.
    public var power: PowerState?
    /// The simulated latency of requests; `nil` keeps the observed one.
    public var foreground: ForegroundState?
    /// The simulated shortages. A kind without an entry keeps the observed one.
    public var pressure: [PressureKind: PressureState] = [:]

    /// Makes overrides that change nothing.
    public init() {}

    /// Returns conditions in which the simulated states stand in for the observed ones.
    public func applied(to conditions: SystemConditions) -> SystemConditions {
        let reason = "simulated"
        var result = conditions
        if let thermal { result.thermal = Condition(thermal, because: reason) }
        if let power { result.power = Condition(power, because: reason) }
        if let foreground { result.foreground = Condition(foreground, because: reason) }
        for (kind, state) in pressure { result[kind] = Condition(state, because: reason) }
        return result
    }
}
