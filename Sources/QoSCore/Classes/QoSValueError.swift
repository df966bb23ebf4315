/// A number or a text that is not a quality-of-service value.
public enum QoSValueError: Error, Sendable, Hashable {
    /// A relative priority outside of −15…0.
    case relativePriorityOutOfRange(Int)
    /// A text that names no class.
    case unknownClass(String)
    /// A text that is not a level.
    case malformedLevel(String)
}

extension QoSValueError: CustomStringConvertible {
    /// The refused value, and the values that are accepted.
    public var description: String {
        switch self {
        case .relativePriorityOutOfRange(let value):
            "relative priority \(value) is out of range: use -15 (lowest) to 0 (the default)"
        case .unknownClass(let text):
            "'\(text)' is no quality-of-service class: use one of \(Self.names)"
        case .malformedLevel(let text):
            "'\(text)' is no quality-of-service level: use a class (\(Self.names)), "
                + "optionally followed by a relative priority from -15 to 0, as in 'utility-3'"
        }
    }

    private static var names: String {
        QoSClass.descending.map(\.description).joined(separator: ", ")
    }
}
