internal import QoSCore

/// The order of items that wait for a host: the highest level first, then the earliest due time.
struct ReadyOrder: Sendable, Hashable, Comparable {
    let level: QoSLevel
    let due: WallTime

    static func < (left: ReadyOrder, right: ReadyOrder) -> Bool {
        left.level == right.level ? left.due < right.due : left.level > right.level
    }
}
