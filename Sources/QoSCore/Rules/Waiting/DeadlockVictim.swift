/// The wait to refuse in a circle of waits of which none could end.
///
/// Usually that is the wait that closes the circle, because it has not begun. But a synchronous submission cannot be
/// taken back once its closure runs on another thread. Then another thread of the circle is woken, and gives up. In a
/// circle of synchronous submissions alone, at least one closure has not begun: the closure that makes a submission
/// began before it.
package enum DeadlockVictim<Party: Hashable & Sendable>: Equatable {
    /// The wait that would close the circle.
    case closing
    /// The wait of another, sleeping party.
    case other(Party)
    /// No wait can be refused. The circle is only reported.
    case nobody

    /// Chooses the wait.
    ///
    /// - Parameters:
    ///   - waiters: the parties of the circle.
    ///   - party: the party that closes it.
    ///   - mayGiveUp: whether a party can go on without its target.
    package init(of waiters: [Party], closedBy party: Party, mayGiveUp: (Party) -> Bool) {
        if mayGiveUp(party) {
            self = .closing
        } else if let other = waiters.first(where: { $0 != party && mayGiveUp($0) }) {
            self = .other(other)
        } else {
            self = .nobody
        }
    }
}
