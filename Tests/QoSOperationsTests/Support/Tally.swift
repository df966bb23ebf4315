import Synchronization

/// A count that any thread may raise.
final class Tally: Sendable {
    private let count = Atomic(0)

    var value: Int { count.load(ordering: .sequentiallyConsistent) }

    /// Adds one, and returns the count with it.
    @discardableResult
    func add() -> Int { count.add(1, ordering: .sequentiallyConsistent).newValue }
}
