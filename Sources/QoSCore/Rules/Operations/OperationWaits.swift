/// One operation that waits for another: a link of a deadlock.
package typealias GraphWait = WaitLink<OperationID, OperationWaitReason>

/// Which operations wait in their bodies, and for what. A pure value; empty most of the time.
///
/// An operation may wait for several things at once: in its own task, and in the children of that. It cannot end before all of these
/// waits have ended.
struct OperationWaits: Sendable {
    /// What can be waited for.
    enum Target: Sendable, Hashable {
        case operation(UInt32)
        case queue(UInt32)
    }

    /// A wait that has begun. No other one is equal to it, ever.
    struct Begun: Sendable, Hashable {
        fileprivate let waiter: UInt32
        fileprivate let number: UInt64
    }

    private struct Waiter {
        var waits: [(number: UInt64, target: Target)] = []
        /// The queue in which it takes a place; `nil` for one that does not run, as its conditions wait.
        let queue: UInt32?
    }

    private var waiters: [UInt32: Waiter] = [:]
    private var waitersOf: [Target: [UInt32]] = [:]
    private var waitersIn: [UInt32: Set<UInt32>] = [:]
    private var lastNumber: UInt64 = 0

    var isEmpty: Bool { waiters.isEmpty }

    /// What an operation waits for.
    func targets(of waiter: UInt32) -> [Target] { waiters[waiter]?.waits.map(\.target) ?? [] }

    /// Whether an operation waits for that.
    func isAwaited(_ target: Target) -> Bool { waitersOf[target] != nil }

    /// Those that take places in a queue and wait.
    func waiters(in queue: UInt32) -> Set<UInt32> { waitersIn[queue] ?? [] }

    /// An operation begins to wait.
    ///
    /// - Parameter queue: in which it takes a place; `nil` for none.
    mutating func began(by waiter: UInt32, in queue: UInt32?, for target: Target) -> Begun {
        lastNumber += 1
        waiters[waiter, default: Waiter(queue: queue)].waits.append((lastNumber, target))
        waitersOf[target, default: []].append(waiter)
        if let queue { waitersIn[queue, default: []].insert(waiter) }
        return Begun(waiter: waiter, number: lastNumber)
    }

    /// A wait is over, if it is not already.
    mutating func ended(_ wait: Begun) {
        guard let place = waiters[wait.waiter]?.waits.firstIndex(where: { $0.number == wait.number }),
            let target = waiters[wait.waiter]?.waits.remove(at: place).target
        else { return }
        unlink(wait.waiter, from: target)
        forgetIfIdle(wait.waiter)
    }

    /// The operation waits for nothing any more, if it did.
    mutating func ended(by waiter: UInt32) {
        for (_, target) in waiters[waiter]?.waits ?? [] { unlink(waiter, from: target) }
        waiters[waiter]?.waits = []
        forgetIfIdle(waiter)
    }

    /// What was waited for is over.
    mutating func ended(_ target: Target) {
        for waiter in waitersOf.removeValue(forKey: target) ?? [] {
            waiters[waiter]?.waits.removeAll { $0.target == target }
            forgetIfIdle(waiter)
        }
    }

    private mutating func unlink(_ waiter: UInt32, from target: Target) {
        if let place = waitersOf[target]?.firstIndex(of: waiter) { waitersOf[target]?.remove(at: place) }
        if waitersOf[target]?.isEmpty == true { waitersOf[target] = nil }
    }

    private mutating func forgetIfIdle(_ waiter: UInt32) {
        guard let found = waiters[waiter], found.waits.isEmpty else { return }
        waiters[waiter] = nil
        guard let queue = found.queue else { return }
        waitersIn[queue]?.remove(waiter)
        if waitersIn[queue]?.isEmpty == true { waitersIn[queue] = nil }
    }
}
