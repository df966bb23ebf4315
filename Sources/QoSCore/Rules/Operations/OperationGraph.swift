/// Operations, their queues and what depends on what, as a value: decides who may start, who is promoted and who is refused
/// (rules Q1–Q5, O1–O11).
///
/// Words as in the rules: a *child* depends on its *parents*, which run first. Events are in the past tense and write what
/// has to be done into an ``OperationEffects``. Nothing recurses: a chain of a million operations takes as much stack as one
/// of two. A raise touches what it changes, and the dependencies of that, and nothing else.
///
/// The caller owns the identifiers: an operation is made by ``operationCreated(assigned:origin:policy:isBarrier:hasConditions:)``
/// and given back by ``forget(_:)``. Using one after that is a programming error and not detected.
package struct OperationGraph: Sendable {
    var operations: [OperationRecord] = []
    var queues: [OperationQueueRecord] = []
    var edges = DependencyEdges()
    var lastSequence: UInt64 = 0
    var lastSearch: UInt32 = 0

    /// Places of the tables to be used again.
    private var freeOperations: [UInt32] = []
    private var freeQueues: [UInt32] = []

    // Work lists of single events, empty between them.
    var raisedOperations: [UInt32] = []
    var endedOperations: [(operation: UInt32, outcome: OperationOutcome)] = []
    var restlessQueues: [UInt32] = []

    /// What the bodies of operations wait for.
    var waits = OperationWaits()
    /// How many queues have a barrier that keeps something apart.
    var dividedQueues = 0
    /// How many operations are started in one event.
    let startsAtOnce: Int

    /// An empty graph.
    ///
    /// - Parameter startsAtOnce: how many operations are started in one event; positive. When more of them can start
    ///   ``hasMoreToStart`` says so.
    package init(startsAtOnce: Int = .max) {
        self.startsAtOnce = startsAtOnce
    }

    // MARK: Operations

    /// An operation was created.
    ///
    /// - Parameters:
    ///   - assigned: the level that it was given; `nil` to infer it (rule O1).
    ///   - origin: where that happened.
    ///   - policy: what it does when a parent fails.
    ///   - isBarrier: whether it runs alone in its queue, after all before it and before all after it. It keeps the two
    ///     apart also when it is cancelled.
    ///   - hasConditions: whether it has to be asked, when its parents have finished, whether it may run.
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

    /// Gives an operation's place back that has finished, or that was never added to a queue.
    ///
    /// One that was never added counts as cancelled for what depends on it.
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

    /// Whether the operation is ready: nothing is missing but its turn.
    package func isReady(_ id: OperationID) -> Bool { operations[Int(id.index)].state == .ready }

    // MARK: Queues

    /// A queue was created.
    ///
    /// - Parameters:
    ///   - level: its level; `nil` for a queue that has none (rule Q1).
    ///   - limit: how many of its operations may run at the same time; positive.
    ///   - lifetime: how long a promotion lasts (rule Q5).
    ///   - isSuspended: whether it starts nothing for now.
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

    /// Nobody adds to the queue any more: what is in it runs, even if it is suspended, since nobody could resume it. The queue
    /// is idle for the last time when that is done.
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

    /// A queue was reported idle, and still is at the end of the event: what waits for it goes on. The place of a released queue is
    /// given back.
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

    /// The level that operations are held against now: the assigned one, or that of a promotion.
    package func level(of id: OperationQueueID) -> QoSLevel? { queues[Int(id.index)].level.level }

    /// The level that the queue was given.
    package func assignedLevel(of id: OperationQueueID) -> QoSLevel? { queues[Int(id.index)].assigned.level }

    /// Whether the queue starts nothing for now.
    package func isSuspended(_ id: OperationQueueID) -> Bool { queues[Int(id.index)].isSuspended }

    /// How many operations may run at the same time.
    package func limit(of id: OperationQueueID) -> Int { queues[Int(id.index)].limit }

    /// How many operations the queue has that have not finished.
    package func unfinishedCount(of id: OperationQueueID) -> Int { queues[Int(id.index)].unfinished }

    /// How many operations of the queue run.
    package func runningCount(of id: OperationQueueID) -> Int { queues[Int(id.index)].running }

    /// The unfinished operations of a queue, in the order in which they were added.
    ///
    /// Complexity: O(n log n).
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
