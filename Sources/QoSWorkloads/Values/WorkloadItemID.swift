/// The number of an item in its store. Numbers rise in the order of insertion. A store never reuses one.
public struct WorkloadItemID: Sendable, Hashable, Codable, RawRepresentable {
    /// The number; positive.
    public let rawValue: Int64

    /// Makes an identifier from its number.
    public init(rawValue: Int64) {
        self.rawValue = rawValue
    }
}

extension WorkloadItemID: Comparable {
    /// Orders by insertion.
    public static func < (left: WorkloadItemID, right: WorkloadItemID) -> Bool { left.rawValue < right.rawValue }
}

extension WorkloadItemID: CustomStringConvertible {
    /// The number with a sign: `#12`.
    public var description: String { "#\(rawValue)" }
}
