import ArgumentParser
import QoSCore

/// A condition and its simulated state, as on the command line: `thermal=serious`.
struct SimulatedState: ExpressibleByArgument {
    private let text: String

    /// - Returns: `nil` for an unknown condition or state; the parser then names the argument.
    init?(argument: String) {
        var overrides = ConditionOverrides()
        guard overrides.set(argument) else { return nil }
        text = argument
    }

    /// Adds the state to others.
    func apply(to overrides: inout ConditionOverrides) {
        _ = overrides.set(text)
    }
}
