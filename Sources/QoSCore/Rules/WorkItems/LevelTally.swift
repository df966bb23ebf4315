/// The number of items of each level, and the highest level: a queue's knowledge of its waiting items.
///
/// Adding, removing and asking for the highest are O(1). So a high item behind any number of others costs the same
/// (rule I3). 336 bytes.
package struct LevelTally: Sendable {
    private var counts = [81 of UInt32](repeating: 0)
    private var occupied: (UInt64, UInt64) = (0, 0)

    /// Makes an empty tally.
    package init() {}

    /// The highest level in the tally; none without items, or without a level.
    package var highest: LevelCode {
        if occupied.1 != 0 {
            return LevelCode(rawValue: UInt8(truncatingIfNeeded: 127 - occupied.1.leadingZeroBitCount))
        }
        if occupied.0 != 0 {
            return LevelCode(rawValue: UInt8(truncatingIfNeeded: 63 - occupied.0.leadingZeroBitCount))
        }
        return .none
    }

    /// Adds an item of a level.
    ///
    /// - Complexity: O(1).
    package mutating func add(_ level: LevelCode) {
        let index = Int(level.rawValue)
        counts[index] &+= 1
        if index < 64 { occupied.0 |= 1 << UInt64(index) } else { occupied.1 |= 1 << UInt64(index - 64) }
    }

    /// Removes an item of a level, which must be in the tally.
    ///
    /// - Complexity: O(1).
    package mutating func remove(_ level: LevelCode) {
        let index = Int(level.rawValue)
        precondition(counts[index] > 0, "a level is taken away that is not there")
        counts[index] &-= 1
        guard counts[index] == 0 else { return }
        if index < 64 { occupied.0 &= ~(1 << UInt64(index)) } else { occupied.1 &= ~(1 << UInt64(index - 64)) }
    }
}
