/// A rule that a simulated run broke.
package struct SimulationViolation: Error, Sendable, Hashable, CustomStringConvertible {
    /// The rule, and how it was broken.
    package let rule: String

    /// The virtual time since the beginning of the simulation.
    package let time: Duration

    init(rule: String, at nanoseconds: Int64) {
        self.rule = rule
        time = .nanoseconds(nanoseconds)
    }

    /// Time and rule.
    package var description: String { "at \(time): \(rule)" }
}
