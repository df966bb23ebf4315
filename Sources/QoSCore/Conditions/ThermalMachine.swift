/// The heat of the machine over time (rule S1). It rises at once, and falls after a while below lower thresholds.
package struct ThermalMachine: Sendable {
    private var hysteresis: Hysteresis<ThermalState>
    private var condition: Condition<ThermalState>?

    /// - Parameter fallAfter: the time for which the machine must be cooler.
    package init(fallAfter: Duration = .seconds(10)) {
        hysteresis = Hysteresis(.nominal, fallAfter: fallAfter)
    }

    /// Takes a reading, and returns the condition after it.
    ///
    /// An unknown heat counts as nominal. A state that was known before lasts until the time for a fall is over.
    package mutating func observe(
        _ reading: Reading<ThermalReading>, at now: SchedulerInstant
    ) -> Condition<ThermalState> {
        let rising = reading.value?.judgement(isFalling: false)
        let falling = reading.value?.judgement(isFalling: true)
        let state = hysteresis.observe(
            rising: rising?.state ?? .nominal, falling: falling?.state ?? .nominal, at: now)
        if let condition, condition.state == state, condition.isKnown == (rising != nil) { return condition }
        let reason = rising?.reason ?? reading.problem ?? "no reading"
        let condition = Condition(state, because: reason, isKnown: rising != nil)
        self.condition = condition
        return condition
    }
}
