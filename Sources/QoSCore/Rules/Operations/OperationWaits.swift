/// Which operations wait in their bodies, and for what. A pure value; empty most of the time.
struct OperationWaits: Sendable {
    /// What can be waited for.
    enum Target: Sendable, Hashable {
        case operation(UInt32)
        case queue(UInt32)
    }

    private var targets: [UInt32: Target] = [:]
    private var waitersOf: [Target: [UInt32]] = [:]

    /// Those who wait.
    var waiters: some Sequence<UInt32> { targets.keys }

    var isEmpty: Bool { targets.isEmpty }

    /// What an operation waits for; `nil` for nothing. It is one thing, since its task waits for one thing at a time.
    subscript(waiter: UInt32) -> Target? { targets[waiter] }

    /// Whether an operation waits for that.
    func isAwaited(_ target: Target) -> Bool { waitersOf[target] != nil }

    mutating func began(by waiter: UInt32, for target: Target) {
        ended(by: waiter)
        targets[waiter] = target
        waitersOf[target, default: []].append(waiter)
    }

    /// The operation waits no more, if it did.
    mutating func ended(by waiter: UInt32) {
        guard let target = targets.removeValue(forKey: waiter) else { return }
        waitersOf[target]?.removeAll { $0 == waiter }
        if waitersOf[target]?.isEmpty == true { waitersOf[target] = nil }
    }

    /// What was waited for is over.
    mutating func ended(_ target: Target) {
        for waiter in waitersOf.removeValue(forKey: target) ?? [] { targets[waiter] = nil }
    }
}
