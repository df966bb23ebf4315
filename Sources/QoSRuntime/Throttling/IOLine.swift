/// The pieces of one class that wait to ask the gate, in the order in which they came. Only the first one asks.
///
/// A value behind the throttle's lock. The one that takes a waiter out of it resolves the waiter, outside of the lock.
struct IOLine: Sendable {
    typealias Waiter = PendingResult<Bool, Never>

    private var isTaken = false
    private var waiters: [Waiter] = []

    /// Takes the line for a waiter if it is free; otherwise queues the waiter.
    ///
    /// - Returns: whether the line was taken.
    mutating func enter(_ waiter: Waiter) -> Bool {
        guard isTaken else {
            isTaken = true
            return true
        }
        waiters.append(waiter)
        return false
    }

    /// Hands the line to the next waiter, or frees it.
    ///
    /// - Returns: the waiter that has the line now.
    mutating func leave() -> Waiter? {
        guard !waiters.isEmpty else {
            isTaken = false
            return nil
        }
        return waiters.removeFirst()
    }

    /// Takes a waiter out that does not want to wait any longer.
    ///
    /// - Returns: `false` if it has the line already.
    mutating func remove(_ waiter: Waiter) -> Bool {
        guard let index = waiters.firstIndex(where: { $0 === waiter }) else { return false }
        waiters.remove(at: index)
        return true
    }
}
