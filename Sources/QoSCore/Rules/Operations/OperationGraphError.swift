/// A refused request to an ``OperationGraph``. The graph does not change.
package enum OperationGraphError: Error, Sendable, Hashable {
    /// The dependency would close this cycle: each operation depends on the next, the last on the first (rule O10).
    case cycle([OperationID])
    /// The operation has started or finished, and takes no more dependencies (rule O10).
    case alreadyStarted(OperationID)
    /// The operation has been added to a queue already.
    case alreadyInQueue(OperationID, OperationQueueID)
    /// Each of these would wait for the next, the last for the first, forever.
    case deadlock([GraphWait])
    /// The queue is not suspended.
    case notSuspended(OperationQueueID)
}
