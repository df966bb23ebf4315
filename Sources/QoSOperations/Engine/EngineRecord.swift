import QoSCore

/// An engine's data of an operation, kept in the operation itself, under the engine's lock.
struct EngineRecord: Sendable {
    /// The phase of an operation, from its handle's view.
    enum Phase: Sendable {
        /// In no queue yet. The graph may know the operation, because of a dependency or a waiter.
        case created
        /// In a queue. The engine keeps the operation alive.
        case added
        /// Ended. The graph has forgotten the operation.
        case finished(OperationOutcome)
    }

    var phase = Phase.created
    /// Whether it has ever been in a queue.
    var wasAdded = false
    /// Whether the operation was cancelled before its end.
    var isCancelled = false
    /// The operation's identity in the graph. It exists from the graph's first use of the operation until its end.
    var id: OperationID?
    /// Its queue, once it has one.
    var queue: OperationQueueID?
    /// The level from the operation's creation, or the one that was set last.
    var requested: QoSLevel?
    /// The place of the operation's creation.
    let origin: OperationOrigin
    /// The effective level at its end.
    var finalLevel: QoSLevel?
    /// The waiters for the operation's end.
    var waiters: [Waiter] = []
    /// The runner of the operation's body or conditions.
    var runner: Runner?
    /// The operation's progress, made on its first use.
    var progress: OperationProgress?
    /// The operation's watchers, made on their first use.
    var watchers: OperationWatchers?

    init(requested: QoSLevel?, origin: OperationOrigin) {
        self.requested = requested
        self.origin = origin
    }
}
