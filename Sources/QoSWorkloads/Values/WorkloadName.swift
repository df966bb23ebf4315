/// The name of a workload: the link between a stored item and the code that runs it.
///
/// A name stays the same for as long as items with it are stored. Names are compared byte by byte.
public struct WorkloadName: Sendable, Hashable, Codable, RawRepresentable {
    /// The text.
    public let rawValue: String

    /// Makes a name.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// Makes a name.
    public init(_ name: String) {
        rawValue = name
    }
}

extension WorkloadName: ExpressibleByStringLiteral {
    /// Makes a name.
    public init(stringLiteral value: String) {
        rawValue = value
    }
}

extension WorkloadName: Comparable {
    /// Orders alphabetically.
    public static func < (left: WorkloadName, right: WorkloadName) -> Bool { left.rawValue < right.rawValue }
}

extension WorkloadName: CustomStringConvertible {
    /// The text.
    public var description: String { rawValue }
}
