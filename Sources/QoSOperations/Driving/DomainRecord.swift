import QoSCore

/// What an operation's domain keeps in the operation itself, under the domain's lock.
struct DomainRecord: Sendable {
    /// Where the operation stands, as far as its handle is concerned.
    enum Phase: Sendable {
        /// In no queue yet; the graph may know it, because of a dependency or a waiter.
        case created
        /// In a queue; the domain keeps the operation alive.
        case added
        /// Ended; the graph has forgotten it.
        case finished(OperationOutcome)
    }

    var phase = Phase.created
    /// Whether it has ever been in a queue.
    var wasAdded = false
    /// Whether it was cancelled, before its end.
    var isCancelled = false
    /// Its identity in the graph, from the first time that this one has to know it until the end.
    var id: OperationID?
    /// Its queue, once it has one.
    var queue: OperationQueueID?
    /// The level that it was created with or given last.
    var requested: QoSLevel?
    /// Where it was created.
    let origin: OperationOrigin
    /// The effective level at its end.
    var finalLevel: QoSLevel?
    /// Who waits for its end.
    var waiters: [Waiter] = []
    /// What runs it, or asks its conditions.
    var runner: Runner?
    /// Made when somebody asks for it.
    var progress: OperationProgress?
    /// Made when somebody watches it, or wants to be called at its end.
    var watchers: OperationWatchers?

    init(requested: QoSLevel?, origin: OperationOrigin) {
        self.requested = requested
        self.origin = origin
    }
}
