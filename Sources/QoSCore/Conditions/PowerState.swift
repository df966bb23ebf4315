/// The power supply of the machine, and the wish to save energy (rule S3).
public struct PowerState: Sendable, Hashable, Codable {
    /// The present source of energy.
    public enum Source: String, Sendable, Hashable, Codable, CaseIterable {
        /// The mains, or a machine that shows no supply.
        case mains
        /// A battery.
        case battery
    }

    /// A reason for low-power mode.
    public enum LowPowerReason: String, Sendable, Hashable, Codable, CaseIterable {
        /// The machine runs on a battery that is nearly empty.
        case lowBattery
        /// The platform profile, or the energy preference of the processors, asks to save power.
        case powerProfile
        /// The program's configuration asks for it.
        case configuration
        /// The program switched it on while it runs.
        case request
    }

    /// The present source of energy.
    public var source: Source

    /// The charge of the batteries together, 0…1, in steps of 0.01; `nil` without a battery.
    public var batteryLevel: Double?

    /// The reasons for low-power mode, in the order of `LowPowerReason`; empty if it is off.
    public var lowPowerReasons: [LowPowerReason]

    /// Whether discretionary and background work pauses to save energy.
    public var isLowPowerMode: Bool { !lowPowerReasons.isEmpty }

    /// Makes a state.
    public init(source: Source = .mains, batteryLevel: Double? = nil, lowPowerReasons: [LowPowerReason] = []) {
        self.source = source
        self.batteryLevel = batteryLevel
        self.lowPowerReasons = lowPowerReasons
    }
}

extension PowerState: CustomStringConvertible {
    /// The source, the charge and the reasons: `battery 15 %, low-power mode (lowBattery)`.
    public var description: String {
        let level = batteryLevel.map { " \(Int(($0 * 100).rounded())) %" } ?? ""
        let reasons = lowPowerReasons.map(\.rawValue).joined(separator: ", ")
        return "\(source.rawValue)\(level)" + (isLowPowerMode ? ", low-power mode (\(reasons))" : "")
    }
}
