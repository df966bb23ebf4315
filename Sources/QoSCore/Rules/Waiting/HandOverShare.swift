/// The share of the longest waiter, as a value: one hand-over in ``fairness``.
///
/// A lock goes to its highest waiter. Without this share, high waiters that come again and again would keep a low one
/// from the lock forever.
package struct HandOverShare: Sendable {
    /// The number of hand-overs of which one goes to the longest waiter.
    package static let fairness = 16

    /// The number of hand-overs in a row that passed over the longest waiter.
    private var passed = 0

    /// Makes a share before the first hand-over.
    package init() {}

    /// Counts a hand-over.
    ///
    /// - Parameter passesOver: whether the highest waiter came later than another one.
    /// - Returns: whether the lock goes to the longest waiter instead.
    package mutating func goesToLongest(passesOver: Bool) -> Bool {
        passed = passesOver ? passed + 1 : 0
        guard passed == Self.fairness else { return false }
        passed = 0
        return true
    }
}
