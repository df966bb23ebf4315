/// A class and a position inside it. Work is ordered by its level.
///
/// Levels are ordered by class first and by relative priority second.
public struct QoSLevel: Sendable, Hashable {
    /// The class.
    public var qosClass: QoSClass

    /// The position inside the class.
    public var relativePriority: RelativePriority

    /// Makes a level.
    public init(_ qosClass: QoSClass, relativePriority: RelativePriority = .normal) {
        self.qosClass = qosClass
        self.relativePriority = relativePriority
    }

    /// Makes a level from numbers.
    ///
    /// - Throws: ``QoSValueError`` when the relative priority is outside of −15…0.
    public init(_ qosClass: QoSClass, relativePriority: Int) throws(QoSValueError) {
        self.init(qosClass, relativePriority: try RelativePriority(relativePriority))
    }

    /// `userInteractive`, relative priority 0.
    public static let userInteractive = QoSLevel(.userInteractive)
    /// `userInitiated`, relative priority 0.
    public static let userInitiated = QoSLevel(.userInitiated)
    /// `default`, relative priority 0 (rule C2).
    public static let `default` = QoSLevel(.default)
    /// `utility`, relative priority 0.
    public static let utility = QoSLevel(.utility)
    /// `background`, relative priority 0.
    public static let background = QoSLevel(.background)

    /// Returns this level or the other one, whichever is higher. A promotion changes a level only in this way.
    package func raised(to other: QoSLevel) -> QoSLevel {
        max(self, other)
    }

    /// Returns this level or the other one, whichever is higher; `nil` changes nothing.
    package func raised(to other: QoSLevel?) -> QoSLevel {
        guard let other else { return self }
        return raised(to: other)
    }
}

extension QoSLevel: Comparable {
    /// Orders by class, then by relative priority.
    public static func < (left: QoSLevel, right: QoSLevel) -> Bool {
        (left.qosClass, left.relativePriority) < (right.qosClass, right.relativePriority)
    }
}

extension QoSLevel {
    /// Returns the higher of two levels; `nil`, no information, is below all.
    package static func higher(_ left: QoSLevel?, _ right: QoSLevel?) -> QoSLevel? {
        guard let left else { return right }
        return left.raised(to: right)
    }
}
