/// What an event of an ``OperationGraph`` asks its driver to do.
///
/// The driver keeps one value and empties it between events, so that its storage is allocated once.
package struct OperationEffects: Sendable {
    /// A level that rose.
    package struct Promotion: Sendable, Hashable {
        /// Whose.
        package let operation: OperationID
        /// The level before; `nil` for an operation that had none yet.
        package let old: QoSLevel?
        /// The level now.
        package let new: QoSLevel
        /// Whether its body or its conditions run, and their thread has to be raised (rule O8).
        package let isRunning: Bool

        /// A level that rose.
        package init(operation: OperationID, old: QoSLevel?, new: QoSLevel, isRunning: Bool) {
            self.operation = operation
            self.old = old
            self.new = new
            self.isRunning = isRunning
        }
    }

    /// An operation that ended by the event, other than the one that the event reported.
    package struct Finish: Sendable, Hashable {
        /// Which.
        package let operation: OperationID
        /// How.
        package let outcome: OperationOutcome
    }

    /// To be started, at their levels, in this order.
    package var started: [OperationID] = []
    /// Their dependencies are met: ask their conditions, and report the answer.
    package var conditionsDue: [OperationID] = []
    /// Raised, whether they wait or run.
    package var raised: [Promotion] = []
    /// Ended without running.
    package var finished: [Finish] = []
    /// Have no unfinished operation any more.
    package var idle: [OperationQueueID] = []

    /// No effects.
    package init() {}

    /// Forgets everything, and keeps the storage.
    package mutating func removeAll() {
        if !started.isEmpty { started.removeAll(keepingCapacity: true) }
        if !conditionsDue.isEmpty { conditionsDue.removeAll(keepingCapacity: true) }
        if !raised.isEmpty { raised.removeAll(keepingCapacity: true) }
        if !finished.isEmpty { finished.removeAll(keepingCapacity: true) }
        if !idle.isEmpty { idle.removeAll(keepingCapacity: true) }
    }
}
