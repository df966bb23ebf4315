/// The dependencies between the operations of a case.
public enum OperationShape: Sendable, Hashable {
    /// Not at all.
    case independent(count: Int)
    /// Each on the one before.
    case chain(count: Int)
    /// Each on its upper and its left neighbour.
    case grid(side: Int)

    /// The shape that a case names; `nil` for others.
    public init?(_ caseName: CaseName) {
        switch caseName.name {
        case "independent": self = .independent(count: Int(caseName["operations"]))
        case "chain": self = .chain(count: Int(caseName["operations"]))
        case "grid": self = .grid(side: Int(caseName["side"]))
        default: return nil
        }
    }

    /// The number of operations.
    public var count: Int {
        switch self {
        case .independent(let count), .chain(let count): count
        case .grid(let side): side * side
        }
    }

    /// Returns the dependencies of an operation: operations of smaller numbers.
    public func parents(of number: Int) -> (Int?, Int?) {
        switch self {
        case .independent: (nil, nil)
        case .chain: (number > 0 ? number - 1 : nil, nil)
        case .grid(let side): (number >= side ? number - side : nil, number % side > 0 ? number - 1 : nil)
        }
    }
}
