import QoSCore

/// A graph with short ways to say what happens, for tests of single rules. Remembers the effects of the last event.
struct GraphWorld {
    var graph: OperationGraph
    private(set) var effects = OperationEffects()

    init(graph: OperationGraph = OperationGraph()) {
        self.graph = graph
    }

    mutating func queue(
        _ level: QoSLevel? = nil, limit: Int = .max, promotion: QueuePromotionLifetime = .untilSet,
        suspended: Bool = true
    ) -> OperationQueueID {
        graph.queueCreated(level: level, limit: limit, lifetime: promotion, isSuspended: suspended)
    }

    mutating func operation(
        _ level: QoSLevel? = nil, origin: OperationOrigin = OperationOrigin(), policy: FailedDependencyPolicy = .cancel,
        barrier: Bool = false, conditions: Bool = false
    ) -> OperationID {
        graph.operationCreated(
            assigned: level, origin: origin, policy: policy, isBarrier: barrier, hasConditions: conditions)
    }

    /// Makes an operation and adds it.
    mutating func added(
        _ level: QoSLevel? = nil, to queue: OperationQueueID, policy: FailedDependencyPolicy = .cancel,
        barrier: Bool = false, conditions: Bool = false
    ) throws -> OperationID {
        let id = operation(level, policy: policy, barrier: barrier, conditions: conditions)
        try add(id, to: queue)
        return id
    }

    /// Adds a new operation and tells the level that it got.
    mutating func levelOfAdded(_ level: QoSLevel? = nil, to queue: OperationQueueID) throws -> QoSLevel? {
        let id = try added(level, to: queue)
        return graph.level(of: id)
    }

    mutating func add(_ id: OperationID, to queue: OperationQueueID) throws {
        try event { graph, effects throws(OperationGraphError) in try graph.operationAdded(id, to: queue, &effects) }
    }

    mutating func depend(_ child: OperationID, on parent: OperationID) throws {
        try event { graph, effects throws(OperationGraphError) in
            try graph.dependencyAdded(of: child, on: parent, &effects)
        }
    }

    mutating func set(_ id: OperationID, to level: QoSLevel) {
        event { $0.levelSet(of: id, to: level, &$1) }
    }

    mutating func set(_ queue: OperationQueueID, to level: QoSLevel?) {
        event { $0.levelSet(of: queue, to: level, &$1) }
    }

    mutating func finish(_ id: OperationID, _ outcome: OperationOutcome = .succeeded) {
        event { $0.operationFinished(id, outcome, &$1) }
    }

    mutating func resume(_ queue: OperationQueueID) throws {
        try event { graph, effects throws(OperationGraphError) in try graph.queueResumed(queue, &effects) }
    }

    mutating func event<Failure: Error>(
        _ body: (inout OperationGraph, inout OperationEffects) throws(Failure) -> Void
    ) throws(Failure) {
        effects.removeAll()
        try body(&graph, &effects)
    }

    /// The effective levels of operations.
    func levels(_ ids: OperationID...) -> [QoSLevel?] { ids.map { graph.level(of: $0) } }

    /// The operations that the last event raised.
    var raised: Set<OperationID> { Set(effects.raised.map(\.operation)) }
}
