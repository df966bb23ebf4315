extension OperationGraph {
    /// Adds an operation to a queue. It gets its level (rules O1, O3), promotes the queue if it is higher (Q1, Q2) and
    /// its own dependencies (O5), and starts when nothing is missing.
    ///
    /// Ask for a deadlock first: ``deadlock(adding:to:)``.
    ///
    /// - Parameters:
    ///   - id: the operation.
    ///   - queue: the queue.
    ///   - kept: a place of ``listBegan(_:in:)`` for an operation of a list; `nil` for a single one.
    ///   - effects: receives the actions.
    /// - Throws: ``OperationGraphError/alreadyInQueue(_:_:)`` if the operation is or was in a queue.
    package mutating func operationAdded(
        _ id: OperationID, to queue: OperationQueueID, at kept: ListPlaces.Place? = nil,
        _ effects: inout OperationEffects
    ) throws(OperationGraphError) {
        let (index, place) = (Int(id.index), Int(queue.index))
        guard operations[index].state == .created else {
            throw .alreadyInQueue(id, OperationQueueID(index: operations[index].queue))
        }
        if kept == nil { lastSequence += 1 }
        let sequence = kept?.sequence ?? lastSequence
        operations[index].sequence = sequence
        operations[index].queue = queue.index
        operations[index].state = .waiting

        let standing = queues[place].level
        let own = ownLevel(of: operations[index], inQueueAt: standing)
        if !operations[index].isResolved { operations[index].lowering = min(own.lowering, operations[index].lowering) }
        operations[index].isResolved = true
        // What it has inferred from the queue holds up nothing.
        if standing != .none, operations[index].level > queues[place].assigned {
            queues[place].promotionHolders += 1
            operations[index].promotionEpoch = queues[place].promotionEpoch
        }
        let level = max(own, standing)
        if level > operations[index].level {
            if operations[index].level != .none { note(promotionOf: index, to: level, &effects) }
            operations[index].level = level
        }
        let bucket = queues[place].bucket(level)
        queues[place].buckets[bucket].members.enter(.init(sequence: sequence, operation: id.index))
        queues[place].unfinished += 1
        operations[index].segment = kept?.segment ?? segmentForNext(place, isBarrier: operations[index].isBarrier)
        advanceSegments(place)

        if operations[index].firstParent != DependencyEdges.none { raisedOperations.append(id.index) }
        if own > standing, standing != .none {
            queues[place].promoted = own
            raiseMembers(of: place, to: own, before: .max, &effects)
        }
        raiseParents(to: level, &effects)

        if operations[index].isDoomed {
            end(id.index, .dependencyFailed, &effects)
        } else if operations[index].unfinishedParents == 0 {
            dependenciesMet(id.index, &effects)
        }
        startReady(&effects)
    }

    private mutating func segmentForNext(_ place: Int, isBarrier: Bool) -> UInt64 {
        if isBarrier, !queues[place].isDivided { dividedQueues += 1 }
        return queues[place].segmentForNext(isBarrier: isBarrier)
    }

    /// Announces several operations. The queue starts none before all of them are added, so that the highest is the
    /// first.
    package mutating func listComes(to queue: OperationQueueID) {
        queues[Int(queue.index)].comingLists += 1
    }

    /// Notes that all announced operations are added.
    package mutating func listHasCome(to queue: OperationQueueID, _ effects: inout OperationEffects) {
        queues[Int(queue.index)].comingLists -= 1
        unrest(queue.index)
        startReady(&effects)
    }

    /// Announces a list of operations without barriers that is added in several events. What is added meanwhile counts
    /// as behind the whole list.
    ///
    /// - Returns: the places for ``operationAdded(_:to:at:_:)`` or ``leftOut(_:in:_:)``, one for each operation.
    package mutating func listBegan(_ count: Int, in queue: OperationQueueID) -> ListPlaces {
        let first = lastSequence + 1
        lastSequence += UInt64(count)
        return ListPlaces(segment: queues[Int(queue.index)].reserve(count), firstSequence: first)
    }

    /// Notes that an operation of a list is not added.
    package mutating func leftOut(
        _ kept: ListPlaces.Place, in queue: OperationQueueID, _ effects: inout OperationEffects
    ) {
        queues[Int(queue.index)].operationFinished(inSegment: kept.segment)
        advanceSegments(Int(queue.index))
        startReady(&effects)
    }

    /// Returns the operation's own level: the one that it has, or the inferred one (rule O1).
    private func ownLevel(of record: OperationRecord, inQueueAt standing: LevelIndex) -> LevelIndex {
        guard !record.isResolved else { return record.level }
        return max(record.level, LevelIndex(record.origin.level(inQueueAt: standing.level)))
    }

    /// Sets the level of a queue (rules Q3, Q4), which ends a promotion (Q5).
    package mutating func levelSet(of queue: OperationQueueID, to level: QoSLevel?, _ effects: inout OperationEffects) {
        let place = Int(queue.index)
        let (old, new) = (queues[place].level, LevelIndex(level))
        queues[place].endPromotion()
        queues[place].assigned = new
        guard new > old else { return }
        raiseMembers(of: place, to: new, before: .max, &effects)
        raiseParents(to: new, &effects)
        startReady(&effects)
    }

    /// Raises the operations of a queue, but not the queue, to the level of a waiter for the whole queue (rule O9).
    package mutating func queueWaitedFor(
        _ queue: OperationQueueID, at level: QoSLevel, _ effects: inout OperationEffects
    ) {
        raiseMembers(of: Int(queue.index), to: LevelIndex(level), before: .max, &effects)
        raiseParents(to: LevelIndex(level), &effects)
    }

    /// Sets the number of operations that may run at the same time; positive.
    package mutating func limitSet(of queue: OperationQueueID, to limit: Int, _ effects: inout OperationEffects) {
        assert(limit > 0, "a queue with a limit of \(limit) would start nothing")
        queues[Int(queue.index)].limit = limit
        unrest(queue.index)
        startReady(&effects)
    }

    /// Suspends a queue. It starts no operation before it has been resumed as often. Running operations go on.
    package mutating func queueSuspended(_ queue: OperationQueueID) {
        queues[Int(queue.index)].suspensions += 1
    }

    /// Takes back one suspension of a queue.
    ///
    /// - Throws: ``OperationGraphError/notSuspended(_:)`` if the queue was not suspended.
    package mutating func queueResumed(
        _ queue: OperationQueueID, _ effects: inout OperationEffects
    ) throws(OperationGraphError) {
        guard queues[Int(queue.index)].isSuspended else { throw .notSuspended(queue) }
        queues[Int(queue.index)].suspensions -= 1
        guard !queues[Int(queue.index)].isSuspended else { return }
        unrest(queue.index)
        startReady(&effects)
    }
}
