/// A rule that a simulated run broke.
public struct SimulationViolation: Error, Sendable, Hashable, CustomStringConvertible {
    /// The rule, and how it was broken.
    public let rule: String

    /// The virtual time since the beginning of the simulation.
    public let time: Duration

    init(rule: String, at nanoseconds: Int64) {
        self.rule = rule
        time = .nanoseconds(nanoseconds)
    }

    /// Time and rule.
    public var description: String { "at \(time): \(rule)" }
}
