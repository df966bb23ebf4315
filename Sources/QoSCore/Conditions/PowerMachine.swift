/// Decides on low-power mode (rule S3).
///
/// A battery switches it on at a charge, and off at a higher one or on the mains. The other reasons hold while they are
/// there.
package struct PowerMachine: Sendable {
    /// The wishes of the program.
    package struct Wishes: Sendable, Equatable {
        /// The configuration asks for low-power mode.
        package var isConfigured = false
        /// The running program asks for low-power mode.
        package var isRequested = false

        package init() {}
    }

    /// The distance between the charge that switches low-power mode on and the one that switches it off.
    private static let band = 0.05

    private let lowBattery: Double
    private var battery: Hysteresis<PressureState>
    private var condition: Condition<PowerState>?

    /// - Parameters:
    ///   - lowBattery: the charge at which low-power mode begins, 0…1; 0 or less for never.
    ///   - fallAfter: the time for which the battery must be better.
    package init(lowBattery: Double = 0.2, fallAfter: Duration = .seconds(10)) {
        self.lowBattery = lowBattery
        battery = Hysteresis(.nominal, fallAfter: fallAfter)
    }

    /// Takes a reading, and returns the condition after it.
    package mutating func observe(
        _ reading: Reading<PowerReading>, wishes: Wishes, at now: SchedulerInstant
    ) -> Condition<PowerState> {
        let found = reading.value
        let level = found?.batteryLevel.map { ($0 * 100).rounded() / 100 }
        let source = found?.source ?? .mains
        func judged(_ threshold: Double) -> PressureState {
            guard source == .battery, lowBattery > 0, let level else { return .nominal }
            return level <= threshold ? .elevated : .nominal
        }
        battery.observe(rising: judged(lowBattery), falling: judged(lowBattery + Self.band), at: now)
        var reasons: [PowerState.LowPowerReason] = []
        if battery.state > .nominal { reasons.append(.lowBattery) }
        if found?.savingProfile != nil { reasons.append(.powerProfile) }
        if wishes.isConfigured { reasons.append(.configuration) }
        if wishes.isRequested { reasons.append(.request) }
        let state = PowerState(source: source, batteryLevel: level, lowPowerReasons: reasons)
        if let condition, condition.state == state, condition.isKnown == (found != nil) { return condition }
        let condition = Condition(
            state, because: Self.reason(for: state, reading), isKnown: found != nil)
        self.condition = condition
        return condition
    }

    private static func reason(for state: PowerState, _ reading: Reading<PowerReading>) -> String {
        var parts = state.lowPowerReasons.map { reason in
            switch reason {
            case .lowBattery: "the battery is low"
            case .powerProfile: reading.value?.savingProfile ?? "the power profile"
            case .configuration: "the configuration asks for low-power mode"
            case .request: "the program asks for low-power mode"
            }
        }
        if let problem = reading.problem { parts.append(problem) }
        return parts.isEmpty ? "nothing asks for low-power mode" : parts.joined(separator: "; ")
    }
}
