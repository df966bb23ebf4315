/// The actions that an event of an ``OperationGraph`` asks of its driver.
///
/// The driver keeps one value and empties it between events. So its storage is allocated once.
package struct OperationEffects: Sendable {
    /// A level that rose.
    package struct Promotion: Sendable, Hashable {
        /// The raised operation.
        package let operation: OperationID
        /// The level before; `nil` for an operation that had none yet.
        package let old: QoSLevel?
        /// The level now.
        package let new: QoSLevel
        /// Whether its body or its conditions run. Their thread then has to be raised (rule O8).
        package let isRunning: Bool

        /// Makes a raise.
        package init(operation: OperationID, old: QoSLevel?, new: QoSLevel, isRunning: Bool) {
            self.operation = operation
            self.old = old
            self.new = new
            self.isRunning = isRunning
        }
    }

    /// An operation that the event ended, besides the one that the event reported.
    package struct Finish: Sendable, Hashable {
        /// The ended operation.
        package let operation: OperationID
        /// Its outcome.
        package let outcome: OperationOutcome
    }

    /// The operations to start, at their levels, in this order.
    package var started: [OperationID] = []
    /// The operations whose dependencies are met and whose conditions have to be asked.
    package var conditionsDue: [OperationID] = []
    /// The raised operations, queued and running.
    package var raised: [Promotion] = []
    /// The operations that ended without running.
    package var finished: [Finish] = []
    /// The queues that became idle.
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
