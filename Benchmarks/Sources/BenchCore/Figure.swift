/// One figure of a result: a value with its spread over the repetitions, and the target that it is held against.
public struct Figure: Sendable, Hashable {
    /// The median, or the ratio or difference of two medians.
    public let value: Double
    /// The smallest of the repetitions; of a ratio, the smallest of the pairs.
    public let minimum: Double
    /// The largest.
    public let maximum: Double

    /// Makes a figure.
    public init(value: Double, minimum: Double, maximum: Double) {
        self.value = value
        self.minimum = minimum
        self.maximum = maximum
    }
}

/// The target of a figure.
public enum Target: Sendable, Hashable {
    /// Not above.
    case atMost(Double)
    /// Not below.
    case atLeast(Double)

    /// Whether a value is as it has to be.
    public func isMet(by value: Double) -> Bool {
        switch self {
        case .atMost(let bound): value <= bound
        case .atLeast(let bound): value >= bound
        }
    }

    /// The number.
    public var bound: Double {
        switch self {
        case .atMost(let bound), .atLeast(let bound): bound
        }
    }
}
