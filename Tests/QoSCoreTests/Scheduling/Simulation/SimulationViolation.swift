/// A rule that a run broke.
struct SimulationViolation: Error, CustomStringConvertible {
    var rule: String
    var at: Int64

    var description: String { "at \(at) ns: \(rule)" }
}
