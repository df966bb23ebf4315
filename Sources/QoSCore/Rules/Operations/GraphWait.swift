/// One operation that waits for another: a link of a deadlock.
package struct GraphWait: Sendable, Hashable {
    /// Who waits.
    package let waiter: OperationID
    /// For whom.
    package let awaited: OperationID
    /// Why.
    package let reason: OperationWaitReason

    /// A link.
    package init(waiter: OperationID, awaited: OperationID, reason: OperationWaitReason) {
        self.waiter = waiter
        self.awaited = awaited
        self.reason = reason
    }
}
