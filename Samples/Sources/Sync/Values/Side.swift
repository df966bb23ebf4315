/// One of the two folders.
public enum Side: String, Sendable, Hashable, Codable, CaseIterable {
    /// The first folder of the command.
    case a = "A"
    /// The second folder.
    case b = "B"

    /// The side across.
    public var other: Side { self == .a ? .b : .a }
}

/// One value for each side.
struct Pair<Value> {
    var a: Value
    var b: Value

    subscript(side: Side) -> Value {
        get { side == .a ? a : b }
        set { if side == .a { a = newValue } else { b = newValue } }
    }
}

extension Pair: Sendable where Value: Sendable {}
