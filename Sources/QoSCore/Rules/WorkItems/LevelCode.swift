/// A level, or none, in one byte with the order of levels. Queues count and publish levels in this form.
///
/// 0 is no level. 1…80 are the five classes with sixteen relative priorities each.
@usableFromInline
package struct LevelCode: RawRepresentable, Sendable, Hashable, Comparable {
    /// The byte, 0…80.
    @usableFromInline package let rawValue: UInt8

    /// Makes a code from its byte, which must be one of a code.
    @inlinable @inline(__always)
    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// The number of codes.
    package static let count = 81

    /// No level.
    package static let none = LevelCode(rawValue: 0)

    /// Makes the code of a level.
    package init(_ level: QoSLevel?) {
        guard let level else {
            self = .none
            return
        }
        let position = level.relativePriority.rawValue - RelativePriority.range.lowerBound
        rawValue = UInt8(truncatingIfNeeded: 1 + level.qosClass.rank * 16 + position)
    }

    /// The level; `nil` for none.
    package var level: QoSLevel? {
        guard rawValue > 0, let qosClass = QoSClass(rank: Int(rawValue - 1) / 16) else { return nil }
        let position = Int(rawValue - 1) % 16 + RelativePriority.range.lowerBound
        return QoSLevel(qosClass, relativePriority: RelativePriority(clamping: position))
    }

    /// The rank of the class in which work of this level runs. No level runs as `default` (rule C2).
    @inlinable @inline(__always)
    package var rank: Int { rawValue == 0 ? 2 : Int(rawValue - 1) / 16 }

    /// The order of queued work in the pools: by class, then by relative priority; 16 for each class. No level counts
    /// as `default`.
    @inlinable @inline(__always)
    package var poolOrder: Int { rawValue == 0 ? 47 : Int(rawValue) - 1 }

    /// The distance of this level behind the others of its class, 0…15: the relative priority without its sign.
    @inlinable @inline(__always)
    package var lowering: Int { 15 - poolOrder % 16 }

    /// Orders like levels; none is the lowest.
    @inlinable @inline(__always)
    package static func < (left: LevelCode, right: LevelCode) -> Bool { left.rawValue < right.rawValue }
}
