/// The wait to refuse in a circle of waits of which none could end.
///
/// Usually that is the wait that closes the circle: it has not begun. But a synchronous submission cannot be taken back once its
/// closure runs on another thread. Then another thread of the circle is woken, and gives up. In a circle of synchronous submissions
/// alone at least one closure has not begun, since each submission is made by a closure that began before it.
package enum CircleRefusal<Party: Hashable & Sendable>: Equatable {
    /// The wait that would close the circle.
    case closing
    /// The wait of another party, which sleeps.
    case other(Party)
    /// None can be: the circle is only reported.
    case nobody

    /// Decides.
    ///
    /// - Parameters:
    ///   - waiters: the parties of the circle.
    ///   - party: the one that closes it.
    ///   - mayGiveUp: whether a party can go on without what it waits for.
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
