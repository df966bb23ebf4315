/// A level, or none, in one byte: 0 is none, 1…80 are the levels in their order.
struct LevelIndex: Sendable, Hashable {
    private static let perClass = UInt8(RelativePriority.range.count)

    static let none = LevelIndex(rawValue: 0)

    let rawValue: UInt8

    private init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    init(_ level: QoSLevel?) {
        guard let level else {
            self = .none
            return
        }
        let position = level.relativePriority.rawValue - RelativePriority.range.lowerBound
        self.init(rawValue: 1 + UInt8(level.qosClass.rank) * Self.perClass + UInt8(position))
    }

    /// The level; `nil` for none.
    var level: QoSLevel? {
        guard rawValue > 0 else { return nil }
        let (rank, position) = (rawValue - 1).quotientAndRemainder(dividingBy: Self.perClass)
        return QoSClass(rank: Int(rank)).map {
            QoSLevel(
                $0, relativePriority: RelativePriority(clamping: Int(position) + RelativePriority.range.lowerBound))
        }
    }
}

extension LevelIndex {
    /// The relative priority without its sign, 0…15: the distance behind others of its class. 15 for no level.
    var lowering: UInt8 { self == .none ? Self.perClass - 1 : Self.perClass - 1 - (rawValue - 1) % Self.perClass }
}

extension LevelIndex: Comparable {
    static func < (left: LevelIndex, right: LevelIndex) -> Bool {
        left.rawValue < right.rawValue
    }
}
