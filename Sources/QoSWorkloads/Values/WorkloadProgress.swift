/// The progress of an attempt, for people.
public struct WorkloadProgress: Sendable, Hashable, Codable {
    /// The unit of a progress.
    public struct Unit: Sendable, Hashable, Codable, RawRepresentable, ExpressibleByStringLiteral {
        /// The plural noun.
        public let rawValue: String

        /// Makes a unit from its plural noun.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// Makes a unit from its plural noun.
        public init(stringLiteral value: String) {
            rawValue = value
        }

        /// Files.
        public static let files: Unit = "files"
        /// Bytes.
        public static let bytes: Unit = "bytes"
        /// Things without a better name.
        public static let items: Unit = "items"
    }

    /// The number of finished units.
    public var completed: Int
    /// The number of units in all; `nil` if unknown.
    public var total: Int?
    /// The unit.
    public var unit: Unit

    /// Makes a progress.
    public init(_ completed: Int, of total: Int? = nil, _ unit: Unit = .items) {
        self.completed = completed
        self.total = total
        self.unit = unit
    }
}

extension WorkloadProgress: CustomStringConvertible {
    /// The progress in words: `3 of 10 files`.
    public var description: String {
        total.map { "\(completed) of \($0) \(unit.rawValue)" } ?? "\(completed) \(unit.rawValue)"
    }
}
