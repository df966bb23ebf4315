internal import Synchronization

/// A count that any thread may raise.
package final class Tally: Sendable {
    private let count = Atomic(0)

    /// Begins at 0.
    package init() {}

    /// The count at this moment.
    package var value: Int { count.load(ordering: .sequentiallyConsistent) }

    /// Adds one, and returns the count with it.
    @discardableResult
    package func add() -> Int { count.add(1, ordering: .sequentiallyConsistent).newValue }
}
