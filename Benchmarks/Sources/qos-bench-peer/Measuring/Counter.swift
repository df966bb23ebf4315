import Synchronization

/// Counts. Any thread.
final class Counter: Sendable {
    private let value = Atomic(0)

    var count: Int { value.load(ordering: .acquiring) }

    /// Counts, and returns the count.
    @discardableResult
    func add(_ amount: Int = 1) -> Int {
        value.wrappingAdd(amount, ordering: .acquiringAndReleasing).newValue
    }

    /// Makes it that number if it is less.
    func raise(to amount: Int) {
        value.max(amount, ordering: .acquiringAndReleasing)
    }
}
