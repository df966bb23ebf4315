public import QoSCore

/// One operation that would wait for another: a link of ``OperationError/deadlock(_:)``.
public struct OperationWait: Sendable, Hashable {
    /// The name of the one that waits.
    public let waiter: String
    /// The name of the one that is waited for.
    public let awaited: String
    /// Why.
    public let reason: OperationWaitReason

    /// A link.
    public init(waiter: String, awaited: String, reason: OperationWaitReason) {
        self.waiter = waiter
        self.awaited = awaited
        self.reason = reason
    }
}

extension OperationWait: CustomStringConvertible {
    /// As in "b depends on a".
    public var description: String {
        switch reason {
        case .dependency: "\(waiter) depends on \(awaited)"
        case .wait: "\(waiter) waits for \(awaited)"
        case .barrier: "\(waiter) stands behind \(awaited), with a barrier"
        case .limit: "\(waiter) needs the place of \(awaited) in its queue"
        }
    }
}
