import QoSCore
import QoSKernel

extension OperationEngine {
    /// Adds operations to a queue, all of them or none. Skips operations that were cancelled before.
    ///
    /// A long list is added in pieces, and the lock is free between them. The first operations may run before the last
    /// one is added. A wait or a dependency that comes meanwhile may close a circle with a later piece: the operations
    /// from that piece on are then not added (`Docs/Inside/Protocols/operations.md`).
    func add(_ operations: some RandomAccessCollection<BaseOperation>, to queue: OperationQueueID)
        throws(OperationError)
    {
        guard operations.count > Self.operationsAtOnce else {
            return try change { (state, actions) throws(OperationError) in
                var claim = Claim()
                try Self.claim(operations, state, &claim)
                try state.addAtOnce(operations, to: queue, hasBarriers: claim.hasBarriers, &actions)
            }
        }
        let claim = try claimInPieces(operations)
        guard !claim.hasBarriers else {
            return try change { (state, actions) throws(OperationError) in
                try state.addAtOnce(operations, to: queue, hasBarriers: true, &actions)
            }
        }
        var list = try change { (state, _) throws(OperationError) in
            try state.checkDeadlock(addingClaimed: operations, to: queue, hasBarriers: false)
            if claim.isMixed { state.graph.listComes(to: queue) }
            return state.graph.listBegan(operations.count, in: queue)
        }
        defer { if claim.isMixed { change { state, _ in state.graph.listHasCome(to: queue, &state.effects) } } }
        var added = 0
        for piece in Self.pieces(of: operations) {
            giveWay()
            do throws(OperationError) {
                try change { (state, actions) throws(OperationError) in
                    try state.checkDeadlock(adding: piece, to: queue, of: list, hasBarriers: false)
                    for operation in piece { state.add(operation, to: queue, at: list.next(), &actions) }
                    state.reportAdded(to: queue, &actions)
                }
            } catch {
                leaveOut(operations.dropFirst(added), of: list, in: queue)
                throw error
            }
            added += piece.count
        }
    }

    /// Gives up the claim on the rest of a list, and the rest's places in the queue.
    private func leaveOut(
        _ operations: some RandomAccessCollection<BaseOperation>, of list: ListPlaces, in queue: OperationQueueID
    ) {
        var list = list
        for piece in Self.pieces(of: operations) {
            change { state, _ in
                for _ in piece { state.graph.leftOut(list.next(), in: queue, &state.effects) }
                Self.release(piece)
            }
        }
    }

    /// The facts about a claimed list, which no other thread can add.
    private struct Claim {
        var hasBarriers = false
        /// Whether the levels differ. Then the first operation may not be the first to start.
        var isMixed = false
        var level: QoSLevel??
    }

    /// The parts of a list that are handled while the lock is held, in order.
    static func pieces<List: RandomAccessCollection>(of list: List) -> [List.SubSequence] {
        var pieces: [List.SubSequence] = []
        var rest = list[...]
        while !rest.isEmpty {
            pieces.append(rest.prefix(operationsAtOnce))
            rest = rest.dropFirst(operationsAtOnce)
        }
        return pieces
    }

    /// Claims operations, all of them or none, so that no other thread adds them.
    private func claimInPieces(_ operations: some RandomAccessCollection<BaseOperation>) throws(OperationError) -> Claim
    {
        var (claimed, claim) = (0, Claim())
        for piece in Self.pieces(of: operations) {
            do throws(OperationError) {
                giveWay()
                claim = try look { (state) throws(OperationError) in
                    var claim = claim
                    try Self.claim(piece, state, &claim)
                    return claim
                }
                claimed += piece.count
            } catch {
                for piece in Self.pieces(of: operations.prefix(claimed)) { look { _ in Self.release(piece) } }
                throw error
            }
        }
        return claim
    }

    /// Claims operations, so that no other thread adds them; under the lock.
    private static func claim(
        _ operations: some Collection<BaseOperation>, _ state: borrowing EngineState, _ claim: inout Claim
    ) throws(OperationError) {
        var claimed = 0
        for operation in operations {
            guard !operation.record.wasAdded else {
                release(operations.prefix(claimed))
                throw .addedTwice(operation.name)
            }
            operation.record.wasAdded = true
            claimed += 1
            if operation.isBarrier { claim.hasBarriers = true }
            let level = state.level(of: operation)
            if let other = claim.level, other != level { claim.isMixed = true }
            claim.level = .some(level)
        }
    }

    /// Gives up the claim on operations that are not added; under the lock.
    static func release(_ operations: some Collection<BaseOperation>) {
        for operation in operations { operation.record.wasAdded = false }
    }
}

extension EngineState {
    /// Adds operations that were claimed, or refuses all of them.
    fileprivate mutating func addAtOnce(
        _ operations: some Collection<BaseOperation>, to queue: OperationQueueID, hasBarriers: Bool,
        _ actions: inout EngineActions
    ) throws(OperationError) {
        try checkDeadlock(addingClaimed: operations, to: queue, hasBarriers: hasBarriers)
        // What is started first is decided when all are there.
        graph.listComes(to: queue)
        for operation in operations { add(operation, to: queue, &actions) }
        graph.listHasCome(to: queue, &effects)
        reportAdded(to: queue, &actions)
    }

    /// Refuses a whole list that could never run together with the content of its queue, and gives up the claim on it.
    fileprivate mutating func checkDeadlock(
        addingClaimed operations: some Collection<BaseOperation>, to queue: OperationQueueID, hasBarriers: Bool
    ) throws(OperationError) {
        do throws(OperationError) {
            try checkDeadlock(adding: operations, to: queue, hasBarriers: hasBarriers)
        } catch {
            OperationEngine.release(operations)
            throw error
        }
    }

    /// Refuses operations that could never run together with the content of their queue. The claim on them stays.
    ///
    /// - Parameter list: the graph's result for the list that contains the operations; `nil` if the list has not begun.
    fileprivate mutating func checkDeadlock(
        adding operations: some Collection<BaseOperation>, to queue: OperationQueueID, of list: ListPlaces? = nil,
        hasBarriers: Bool
    ) throws(OperationError) {
        guard graph.mayDeadlock(addingTo: queue, hasBarriers: hasBarriers) else { return }
        var ids: [OperationID] = []
        for operation in operations {
            if case .created = operation.record.phase { ids.append(id(of: operation)) }
        }
        if let waits = graph.deadlock(adding: ids, to: queue, of: list) { throw deadlock(waits) }
    }

    /// Adds an operation that is in no queue.
    ///
    /// - Parameter kept: the place that the graph keeps for an operation of a list; `nil` for none.
    fileprivate mutating func add(
        _ operation: BaseOperation, to queue: OperationQueueID, at kept: ListPlaces.Place? = nil,
        _ actions: inout EngineActions
    ) {
        countHandled()
        if case .finished = operation.record.phase {
            if let kept { graph.leftOut(kept, in: queue, &effects) }
            return
        }
        let id = id(of: operation)
        operation.record.phase = .added
        operation.record.queue = queue
        keep(operation, id)
        wakeWatchers(of: operation, &actions)
        let waitedAt = QoSLevel.higher(countAdded(to: queue), graph.levelOfWaiters(for: queue))
        do {
            try graph.operationAdded(id, to: queue, at: kept, &effects)
        } catch {
            assertionFailure("\(error), though the record said that it was in no queue")
        }
        if let waitedAt { graph.operationWaitedFor(id, at: waitedAt, inOrder: true, &effects) }
    }

    fileprivate mutating func reportAdded(to queue: OperationQueueID, _ actions: inout EngineActions) {
        if let report = self[queue]?.report() { actions.observers.append(report) }
    }
}
