import ArgumentParser
import QoSCore

/// A condition and its simulated state, as on the command line: `thermal=serious`.
struct SimulatedState: ExpressibleByArgument {
    /// The text, as a file of simulated states has it.
    let text: String

    static var allValueStrings: [String] { ConditionOverrides.names }

    /// - Returns: `nil` for an unknown condition or state; the parser then names the argument.
    init?(argument: String) {
        var overrides = ConditionOverrides()
        guard overrides.set(argument) else { return nil }
        text = argument
    }

    /// Reads the words of a command line: each condition is followed by its state, or joined with it by `=`.
    ///
    /// - Throws: `ValidationError` that names the word, and the right ones.
    static func states(in words: [String]) throws -> [SimulatedState] {
        var states: [SimulatedState] = []
        var rest = words[...]
        while let word = rest.popFirst() {
            let text = word.contains("=") ? word : "\(word)=\(rest.popFirst() ?? "")"
            guard let state = SimulatedState(argument: text) else {
                throw ValidationError("\(text) is no state. Write one of \(allValueStrings.joined(separator: ", "))")
            }
            states.append(state)
        }
        return states
    }

    /// Adds the state to others.
    func apply(to overrides: inout ConditionOverrides) {
        _ = overrides.set(text)
    }
}
