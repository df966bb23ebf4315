/// A set of classes in one byte: bit n stands for the class of rank n.
///
/// It fits an atomic, so a driver can publish it and a worker can test its own bit without a lock.
package struct QoSClassSet: OptionSet, Sendable, Hashable {
    /// Bit n is set when the class of rank n (``QoSClass/rank``) is a member; only the bits 0…4 are used.
    package var rawValue: UInt8

    /// Makes a set from its bits.
    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// Makes the set that holds one class.
    package init(_ qosClass: QoSClass) {
        self.init(rank: qosClass.rank)
    }

    init(rank: Int) {
        rawValue = 1 << UInt8(truncatingIfNeeded: rank)
    }

    /// All five classes.
    package static let all = QoSClassSet(rawValue: 0b11111)

    /// Whether a class is a member.
    ///
    /// - Complexity: O(1).
    package func contains(_ qosClass: QoSClass) -> Bool {
        contains(QoSClassSet(qosClass))
    }

    /// Whether some member is lower than the class of a rank.
    ///
    /// - Complexity: O(1).
    package func isBelow(rank: Int) -> Bool {
        rawValue & ((1 << UInt8(truncatingIfNeeded: rank)) - 1) != 0
    }

    /// The members from the highest class to the lowest. This allocates; it is for tests and reports, not for the hot
    /// path.
    package var members: [QoSClass] {
        QoSClass.descending.filter { contains($0) }
    }

    /// Takes the highest member out of the set; `nil` if the set is empty.
    ///
    /// - Complexity: O(1).
    package mutating func popHighest() -> QoSClass? {
        guard rawValue != 0, let highest = QoSClass(rank: 7 - rawValue.leadingZeroBitCount) else { return nil }
        remove(QoSClassSet(highest))
        return highest
    }
}

extension QoSClassSet: CustomStringConvertible {
    /// The abbreviations from the highest class to the lowest: `[ui df bg]`.
    package var description: String {
        "[" + members.map(\.abbreviation).joined(separator: " ") + "]"
    }
}
