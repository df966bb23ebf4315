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

    /// A wait that the event ended, because it would last forever from now on.
    package struct Refusal: Sendable {
        /// The target of a wait.
        package enum Target: Sendable, Hashable {
            case operation(OperationID)
            case queue(OperationQueueID)
        }

        /// The wait, as ``OperationGraph/waitBegan(by:for:)`` has returned it.
        package let wait: OperationGraph.BegunWait
        /// The target of the wait.
        package let target: Target
        /// The circle that the wait belongs to.
        package let circle: [GraphWait]
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

    /// The waits that ended without their targets.
    package var refused: [Refusal] = []

    /// No effects.
    package init() {}

    /// Forgets everything, and keeps the storage.
    package mutating func removeAll() {
        if !started.isEmpty { started.removeAll(keepingCapacity: true) }
        if !conditionsDue.isEmpty { conditionsDue.removeAll(keepingCapacity: true) }
        if !raised.isEmpty { raised.removeAll(keepingCapacity: true) }
        if !finished.isEmpty { finished.removeAll(keepingCapacity: true) }
        if !idle.isEmpty { idle.removeAll(keepingCapacity: true) }
        if !refused.isEmpty { refused.removeAll(keepingCapacity: true) }
    }
}
