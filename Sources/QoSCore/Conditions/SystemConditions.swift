/// The state of the machine and of the program's own requests at one moment (rules S1, S3, S4).
///
/// Each part has a hysteresis and a reason. A part that the machine does not show is nominal.
public struct SystemConditions: Sendable, Hashable, Codable {
    /// The heat of the machine.
    public var thermal: Condition<ThermalState>

    /// The power supply, and low-power mode.
    public var power: Condition<PowerState>

    /// The latency of the program's own requests.
    public var foreground: Condition<ForegroundState>

    /// The shortages; a kind without an entry is unknown.
    public private(set) var pressure: [PressureKind: Condition<PressureState>]

    /// Makes conditions in which nothing is known and all is nominal.
    public init() {
        let reason = "not read yet"
        thermal = Condition(.nominal, because: reason, isKnown: false)
        power = Condition(PowerState(), because: reason, isKnown: false)
        foreground = Condition(.nominal, because: reason, isKnown: false)
        pressure = [:]
    }

    /// The shortage of a resource.
    public subscript(kind: PressureKind) -> Condition<PressureState> {
        get { pressure[kind] ?? Condition(.nominal, because: "not read yet", isKnown: false) }
        set { pressure[kind] = newValue }
    }

    /// Whether nothing restricts work: no heat, no shortage, no delay, no low-power mode.
    public var isNominal: Bool {
        thermal.state == .nominal && !power.state.isLowPowerMode && foreground.state == .nominal
            && PressureKind.allCases.allSatisfy { self[$0].state == .nominal }
    }
}

extension SystemConditions: CustomStringConvertible {
    /// Each part in a line of its own.
    public var description: String {
        let parts =
            ["thermal: \(thermal)", "power: \(power)", "foreground: \(foreground)"]
            + PressureKind.allCases.map { "\($0.rawValue): \(self[$0])" }
        return parts.joined(separator: "\n")
    }
}
