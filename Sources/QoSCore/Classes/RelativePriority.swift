/// A position inside a class, from 0, the default, down to −15.
public struct RelativePriority: Sendable, Hashable {
    /// The accepted values.
    public static let range: ClosedRange<Int> = -15...0

    /// The default, and the highest.
    public static let normal = RelativePriority(unchecked: 0)

    /// The lowest position inside a class.
    public static let lowest = RelativePriority(unchecked: -15)

    private let storage: Int8

    /// The value, in ``range``.
    public var rawValue: Int { Int(storage) }

    private init(unchecked value: Int8) {
        storage = value
    }

    /// Makes a relative priority.
    ///
    /// - Parameter value: −15…0.
    /// - Throws: ``QoSValueError`` when the value is outside of ``range``.
    public init(_ value: Int) throws(QoSValueError) {
        guard Self.range.contains(value) else { throw .relativePriorityOutOfRange(value) }
        storage = Int8(value)
    }

    /// Makes a relative priority from any number by moving it to the nearest end of ``range``.
    public init(clamping value: Int) {
        storage = Int8(min(max(value, Self.range.lowerBound), Self.range.upperBound))
    }
}

extension RelativePriority: Comparable {
    /// Orders by urgency: −15 is the lowest.
    @inlinable
    public static func < (left: RelativePriority, right: RelativePriority) -> Bool {
        left.rawValue < right.rawValue
    }
}

extension RelativePriority: CustomStringConvertible {
    /// The number.
    public var description: String { String(storage) }
}
