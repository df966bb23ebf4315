/// Operations, their queues and their dependencies, as a value. It decides the starts, promotions and refusals (rules
/// Q1–Q5, O1–O11).
///
/// The words are those of the rules: a *child* depends on its *parents*, which run first. Events write their actions
/// into an ``OperationEffects``. Nothing recurses: a chain of a million operations takes as much stack as one of two. A
/// raise touches the changed operations and their dependencies, and nothing else.
///
/// The caller owns the identifiers. ``operationCreated(assigned:origin:policy:isBarrier:hasConditions:)`` makes an
/// operation, and ``forget(_:)`` gives it back. A later use is a programming error, and is not detected.
package struct OperationGraph: Sendable {
    var operations: [OperationRecord] = []
    var queues: [OperationQueueRecord] = []
    var edges = DependencyEdges()
    var lastSequence: UInt64 = 0
    var lastSearch: UInt32 = 0

    /// Free places of the tables.
    private var freeOperations: [UInt32] = []
    private var freeQueues: [UInt32] = []

    // Work lists of single events, empty between them.
    var raisedOperations: [UInt32] = []
    var endedOperations: [(operation: UInt32, outcome: OperationOutcome)] = []
    var restlessQueues: [UInt32] = []

    /// The waits in the bodies of operations.
    var waits = OperationWaits()
    /// The number of queues with a barrier that separates operations.
    var dividedQueues = 0
    /// The number of operations that one event starts.
    let startsAtOnce: Int

    /// Makes an empty graph.
    ///
    /// - Parameter startsAtOnce: the number of operations that one event starts; positive. ``hasMoreToStart`` says
    ///   whether more of them can start.
    package init(startsAtOnce: Int = .max) {
        self.startsAtOnce = startsAtOnce
    }

    // MARK: Operations

    /// Creates an operation.
    ///
    /// - Parameters:
    ///   - assigned: its assigned level; `nil` to infer it (rule O1).
    ///   - origin: the place of its creation.
    ///   - policy: its behaviour when a parent fails.
    ///   - isBarrier: whether it runs alone in its queue, after all before it and before all after it. A cancelled
    ///     barrier still separates the two sides.
    ///   - hasConditions: whether its conditions have to be asked when its parents have finished.
    package mutating func operationCreated(
        assigned: QoSLevel? = nil, origin: OperationOrigin = OperationOrigin(),
        policy: FailedDependencyPolicy = .cancel, isBarrier: Bool = false, hasConditions: Bool = false
    ) -> OperationID {
        var record = OperationRecord()
        record.origin = origin
        record.level = LevelIndex(assigned ?? origin.operation)
        record.lowering = record.level.lowering
        record.isResolved = record.level != .none
        record.policy = policy
        record.isBarrier = isBarrier
        record.hasConditions = hasConditions
        guard let index = freeOperations.popLast() else {
            operations.append(record)
            return OperationID(index: UInt32(operations.count - 1))
        }
        operations[Int(index)] = record
        return OperationID(index: index)
    }

    /// Gives back the place of an operation that has finished, or was never added to a queue.
    ///
    /// For its dependents, an operation that was never added counts as cancelled.
    package mutating func forget(_ id: OperationID, _ effects: inout OperationEffects) {
        if operations[Int(id.index)].state == .created {
            end(id.index, .cancelled, &effects)
            startReady(&effects)
        }
        assert(operations[Int(id.index)].state == .finished, "\(id) is still in a queue")
        if !waits.isEmpty {
            waits.ended(by: id.index)
            waits.ended(.operation(id.index))
        }
        operations[Int(id.index)].state = .free
        freeOperations.append(id.index)
    }

    /// The effective level; `nil` before it is known.
    package func level(of id: OperationID) -> QoSLevel? {
        let record = operations[Int(id.index)]
        return record.level.level ?? record.origin.fallback
    }

    /// Whether the operation runs.
    package func isRunning(_ id: OperationID) -> Bool { operations[Int(id.index)].state == .running }

    /// Whether the operation has ended.
    package func isFinished(_ id: OperationID) -> Bool { operations[Int(id.index)].state == .finished }

    /// Whether the operation is ready and waits only for its turn.
    package func isReady(_ id: OperationID) -> Bool { operations[Int(id.index)].state == .ready }

    // MARK: Queues

    /// Creates a queue.
    ///
    /// - Parameters:
    ///   - level: its level; `nil` for a queue without one (rule Q1).
    ///   - limit: the number of its operations that may run at the same time; positive.
    ///   - lifetime: the duration of a promotion (rule Q5).
    ///   - isSuspended: whether it starts suspended.
    package mutating func queueCreated(
        level: QoSLevel? = nil, limit: Int = .max, lifetime: QueuePromotionLifetime = .untilSet,
        isSuspended: Bool = false
    ) -> OperationQueueID {
        assert(limit > 0, "a queue with a limit of \(limit) would start nothing")
        let record = OperationQueueRecord(
            assigned: LevelIndex(level), limit: limit, lifetime: lifetime, isSuspended: isSuspended)
        guard let index = freeQueues.popLast() else {
            queues.append(record)
            return OperationQueueID(index: UInt32(queues.count - 1))
        }
        queues[Int(index)] = record
        return OperationQueueID(index: index)
    }

    /// Releases a queue. Its operations run, even if it is suspended, since no caller could resume it. Then the queue
    /// is idle for the last time.
    ///
    /// - Returns: whether it is empty, and its place was given back.
    package mutating func queueReleased(_ id: OperationQueueID, _ effects: inout OperationEffects) -> Bool {
        let index = Int(id.index)
        queues[index].isReleased = true
        queues[index].suspensions = 0
        guard queues[index].unfinished > 0 else {
            freeQueue(id)
            return true
        }
        unrest(id.index)
        startReady(&effects)
        return false
    }

    /// Handles the end of an event for a queue that was reported idle and still is. The waiters for it go on. The place
    /// of a released queue is given back.
    ///
    /// - Returns: `false` if the queue has not been released.
    package mutating func queueIdle(_ id: OperationQueueID) -> Bool {
        if !waits.isEmpty { waits.ended(.queue(id.index)) }
        guard queues[Int(id.index)].isReleased else { return false }
        freeQueue(id)
        return true
    }

    private mutating func freeQueue(_ id: OperationQueueID) {
        queues[Int(id.index)] = OperationQueueRecord(assigned: .none, limit: 1, lifetime: .untilSet, isSuspended: true)
        queues[Int(id.index)].isInUse = false
        freeQueues.append(id.index)
    }

    /// The level that the queue gives to operations now: the assigned one, or that of a promotion.
    package func level(of id: OperationQueueID) -> QoSLevel? { queues[Int(id.index)].level.level }

    /// The assigned level of the queue.
    package func assignedLevel(of id: OperationQueueID) -> QoSLevel? { queues[Int(id.index)].assigned.level }

    /// Whether the queue is suspended.
    package func isSuspended(_ id: OperationQueueID) -> Bool { queues[Int(id.index)].isSuspended }

    /// The number of operations that may run at the same time.
    package func limit(of id: OperationQueueID) -> Int { queues[Int(id.index)].limit }

    /// The number of unfinished operations of the queue.
    package func unfinishedCount(of id: OperationQueueID) -> Int { queues[Int(id.index)].unfinished }

    /// The number of running operations of the queue.
    package func runningCount(of id: OperationQueueID) -> Int { queues[Int(id.index)].running }

    /// The unfinished operations of a queue, in the order of adding.
    ///
    /// - Complexity: O(n log n).
    package func members(of id: OperationQueueID) -> [OperationID] {
        memberEntries(of: id).sorted().map { OperationID(index: $0.operation) }
    }

    /// The unfinished operations of a queue, in no particular order.
    func unorderedMembers(of id: OperationQueueID) -> [OperationID] {
        memberEntries(of: id).map { OperationID(index: $0.operation) }
    }

    private func memberEntries(of id: OperationQueueID) -> [SequenceQueue.Entry] {
        let operations = self.operations
        var all: [SequenceQueue.Entry] = []
        for bucket in queues[Int(id.index)].buckets {
            all.append(contentsOf: bucket.members.meant { Self.isMember($0, of: bucket.level, operations) })
        }
        return all
    }
}

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
