/// A state of the system, with the reason for it.
public struct Condition<State: Sendable & Hashable>: Sendable, Hashable {
    /// The state.
    public let state: State

    /// The observation that gave the state, for people: `x86_pkg_temp has 97 °C, the passive trip point is 95 °C`.
    ///
    /// The text is from the moment at which the state began. It does not follow each reading.
    public let reason: String

    /// Whether the machine shows the state. Without a source the state is the nominal one, and the reason says what is
    /// missing.
    public let isKnown: Bool

    /// Makes a condition.
    public init(_ state: State, because reason: String, isKnown: Bool = true) {
        self.state = state
        self.reason = reason
        self.isKnown = isKnown
    }
}

extension Condition: CustomStringConvertible {
    /// The state and its reason: `serious: x86_pkg_temp has 97 °C`.
    public var description: String { "\(state)\(isKnown ? "" : " (unknown)"): \(reason)" }
}

extension Condition: Encodable where State: Encodable {}
extension Condition: Decodable where State: Decodable {}
