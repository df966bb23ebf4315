public import QoSCore

/// A wait of one operation for another: a link of ``OperationError/deadlock(_:)``.
public struct OperationWait: Sendable, Hashable {
    /// The name of the waiting operation.
    public let waiter: String
    /// The name of the awaited operation.
    public let awaited: String
    /// The reason of the wait.
    public let reason: OperationWaitReason

    /// Makes a link.
    public init(waiter: String, awaited: String, reason: OperationWaitReason) {
        self.waiter = waiter
        self.awaited = awaited
        self.reason = reason
    }
}

extension OperationWait: CustomStringConvertible {
    /// The link in words, for example "b depends on a".
    public var description: String {
        switch reason {
        case .dependency: "\(waiter) depends on \(awaited)"
        case .wait: "\(waiter) waits for \(awaited)"
        case .barrier: "\(waiter) stands behind \(awaited), with a barrier"
        case .limit: "\(waiter) needs the place of \(awaited) in its queue"
        }
    }
}
