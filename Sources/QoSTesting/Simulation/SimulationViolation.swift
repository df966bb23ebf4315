/// A rule that a simulated run broke.
public struct SimulationViolation: Error, Sendable, Hashable, CustomStringConvertible {
    /// The rule, and how it was broken.
    public let rule: String

    /// When, in nanoseconds of virtual time.
    public let nanoseconds: Int64

    init(rule: String, at nanoseconds: Int64) {
        self.rule = rule
        self.nanoseconds = nanoseconds
    }

    /// Time and rule.
    public var description: String { "at \(nanoseconds) ns: \(rule)" }
}
