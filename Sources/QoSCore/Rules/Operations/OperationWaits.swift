/// A wait of one operation for another: a link of a deadlock.
package typealias GraphWait = WaitLink<OperationID, OperationWaitReason>

/// The waits in the bodies of operations. A pure value; empty most of the time.
///
/// An operation may have several waits at once: in its own task, and in its child tasks. It cannot end before all of
/// them have ended.
struct OperationWaits: Sendable {
    /// A target of a wait.
    enum Target: Sendable, Hashable {
        case operation(UInt32)
        case queue(UInt32)
    }

    /// A wait that has begun. It never equals another one.
    struct Begun: Sendable, Hashable {
        let waiter: UInt32
        let number: UInt64
    }

    private struct Waiter {
        var waits: [(number: UInt64, target: Target, promotes: Bool)] = []
        /// The queue in which the waiting operation takes a place; `nil` while its conditions wait.
        let queue: UInt32?
    }

    /// The waits that may end although their targets cannot run: a dependency or a condition of these may fail. They are
    /// judged again after each event.
    private(set) var hopeful: [Begun: Target] = [:]

    private var waiters: [UInt32: Waiter] = [:]
    private var waitersOf: [Target: [UInt32]] = [:]
    private var waitersIn: [UInt32: Set<UInt32>] = [:]
    private var lastNumber: UInt64 = 0

    var isEmpty: Bool { waiters.isEmpty }

    /// The targets of an operation's waits.
    ///
    /// - Parameter counts: whether hopeful waits count.
    func targets(of waiter: UInt32, countingHopeful counts: Bool = true) -> [Target] {
        guard let waits = waiters[waiter]?.waits else { return [] }
        guard !counts, !hopeful.isEmpty else { return waits.map(\.target) }
        return waits.filter { hopeful[Begun(waiter: waiter, number: $0.number)] == nil }.map(\.target)
    }

    /// Whether an operation waits.
    func isWaiting(_ operation: UInt32) -> Bool { waiters[operation] != nil }

    /// The targets of those of an operation's waits that raise what they are for.
    func promotedTargets(of waiter: UInt32) -> [Target] {
        guard let waits = waiters[waiter]?.waits else { return [] }
        return waits.filter(\.promotes).map(\.target)
    }

    /// The operations whose waits raise the target.
    func promoters(of target: Target) -> [UInt32] {
        guard let waiting = waitersOf[target] else { return [] }
        return waiting.filter { promotedTargets(of: $0).contains(target) }
    }

    /// Whether an operation waits for the target.
    func isAwaited(_ target: Target) -> Bool { waitersOf[target] != nil }

    /// The waiting operations that take places in a queue.
    func waiters(in queue: UInt32) -> Set<UInt32> { waitersIn[queue] ?? [] }

    /// Begins a wait of an operation.
    ///
    /// - Parameters:
    ///   - waiter: the operation.
    ///   - queue: the queue in which it takes a place; `nil` for none.
    ///   - target: the target.
    ///   - promotes: whether the target rises with the operation.
    mutating func began(by waiter: UInt32, in queue: UInt32?, for target: Target, promotes: Bool) -> Begun {
        lastNumber += 1
        waiters[waiter, default: Waiter(queue: queue)].waits.append((lastNumber, target, promotes))
        waitersOf[target, default: []].append(waiter)
        if let queue { waitersIn[queue, default: []].insert(waiter) }
        return Begun(waiter: waiter, number: lastNumber)
    }

    /// Notes that a wait may end although its target cannot run.
    mutating func isHopeful(_ wait: Begun, for target: Target) { hopeful[wait] = target }

    /// Ends a wait, if it has not ended.
    mutating func ended(_ wait: Begun) {
        guard let place = waiters[wait.waiter]?.waits.firstIndex(where: { $0.number == wait.number }),
            let target = waiters[wait.waiter]?.waits.remove(at: place).target
        else { return }
        if !hopeful.isEmpty { hopeful[wait] = nil }
        unlink(wait.waiter, from: target)
        forgetIfIdle(wait.waiter)
    }

    /// Ends all waits of an operation.
    mutating func ended(by waiter: UInt32) {
        if !hopeful.isEmpty { hopeful = hopeful.filter { $0.key.waiter != waiter } }
        for wait in waiters[waiter]?.waits ?? [] { unlink(waiter, from: wait.target) }
        waiters[waiter]?.waits = []
        forgetIfIdle(waiter)
    }

    /// Ends all waits for a target.
    mutating func ended(_ target: Target) {
        if !hopeful.isEmpty { hopeful = hopeful.filter { $0.value != target } }
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
