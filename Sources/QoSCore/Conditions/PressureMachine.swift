/// The state of one shortage over time.
package struct PressureMachine: Sendable {
    private let thresholds: PressureThresholds
    private var hysteresis: Hysteresis<PressureState>
    private var condition: Condition<PressureState>?

    package init(_ thresholds: PressureThresholds) {
        self.thresholds = thresholds
        hysteresis = Hysteresis(.nominal, riseAfter: thresholds.riseAfter, fallAfter: thresholds.fallAfter)
    }

    /// Takes an observation, and returns the condition after it.
    ///
    /// An unknown number counts as nominal. A state that was known before lasts until the time for a fall is over.
    ///
    /// - Parameters:
    ///   - number: the number for the thresholds.
    ///   - text: the number in words; called when the state changes.
    ///   - now: the time of the observation.
    package mutating func observe(
        _ number: Reading<Double>, at now: SchedulerInstant, text: (Double) -> String
    ) -> Condition<PressureState> {
        let value = number.value.flatMap { $0.isFinite ? $0 : nil }
        let state = hysteresis.observe(
            rising: value.map { thresholds.state(of: $0, isFalling: false) } ?? .nominal,
            falling: value.map { thresholds.state(of: $0, isFalling: true) } ?? .nominal, at: now)
        if let condition, condition.state == state, condition.isKnown == (value != nil) { return condition }
        let reason = value.map(text) ?? number.problem ?? "the number is none"
        let condition = Condition(state, because: reason, isKnown: value != nil)
        self.condition = condition
        return condition
    }
}
