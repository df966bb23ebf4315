/// Which wait of a circle is refused, once it is known that none of them could end.
///
/// Usually that is the wait that closes the circle, which has not begun. A synchronous submission whose closure runs already, on
/// another thread, cannot be taken back; then another thread of the circle gives up, which is woken for that. Of synchronous
/// submissions alone at least one on each circle has not begun: each is made by a closure that began before it.
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
