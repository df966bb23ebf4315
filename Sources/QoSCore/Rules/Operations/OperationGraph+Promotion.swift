extension OperationGraph {
    /// The operation's property was set (rules O6, O7).
    ///
    /// Raised: its children follow, what stands in front of it in its queue, and what all of these depend on. Lowered: it alone
    /// takes the level.
    package mutating func levelSet(of id: OperationID, to level: QoSLevel, _ effects: inout OperationEffects) {
        let (index, new) = (Int(id.index), LevelIndex(level))
        let record = operations[index]
        guard record.state != .finished else { return }
        operations[index].isResolved = true
        guard new > record.level else {
            move(index, to: new)
            return
        }
        raise(id.index, to: new, &effects)
        var edge = record.firstDependent
        while edge != DependencyEdges.none {
            let child = edges[edge].child
            if child != DependencyEdges.none { raise(child, to: new, &effects) }
            edge = edges[edge].nextOfParent
        }
        if record.queue != OperationRecord.noQueue {
            raiseMembers(of: Int(record.queue), to: new, before: record.sequence, &effects)
        }
        raiseParents(to: new, &effects)
    }

    /// The operation's property was set to none: it infers its level again (rule O1), in a queue at once, else when it is
    /// added. A higher one counts as set by the property (rule O6), and so does a lower one (O7).
    package mutating func levelUnset(of id: OperationID, _ effects: inout OperationEffects) {
        let record = operations[Int(id.index)]
        if record.queue != OperationRecord.noQueue {
            let standing = queues[Int(record.queue)].level.level
            levelSet(of: id, to: record.origin.level(inQueueAt: standing).raised(to: standing), &effects)
        } else if let inferred = record.origin.operation {
            levelSet(of: id, to: inferred, &effects)
        } else if record.state == .created {
            operations[Int(id.index)].level = .none
            operations[Int(id.index)].isResolved = false
        }
    }

    /// Somebody began to wait for the operation, or was raised while waiting: the operation is raised to the waiter's level
    /// (rule O9), and what it depends on (O5).
    package mutating func operationWaitedFor(_ id: OperationID, at level: QoSLevel, _ effects: inout OperationEffects) {
        raise(id.index, to: LevelIndex(level), &effects)
        raiseParents(to: LevelIndex(level), &effects)
    }

    // MARK: Raising

    /// Raises an unfinished operation and puts it on the list of those whose parents are to follow.
    mutating func raise(_ operation: UInt32, to level: LevelIndex, _ effects: inout OperationEffects) {
        let index = Int(operation)
        guard operations[index].level < level, operations[index].state != .finished else { return }
        note(promotionOf: index, to: level, &effects)
        move(index, to: level)
        if operations[index].firstParent != DependencyEdges.none { raisedOperations.append(operation) }
    }

    /// Raises the parents of the operations on the list, and theirs, until nothing changes (rule O5).
    mutating func raiseParents(to level: LevelIndex, _ effects: inout OperationEffects) {
        while let operation = raisedOperations.popLast() {
            var edge = operations[Int(operation)].firstParent
            while edge != DependencyEdges.none {
                let next = edges[edge]
                raise(next.parent, to: level, &effects)
                edge = next.nextOfChild
            }
        }
    }

    /// Raises the unfinished operations of a queue, those only that were added before a number.
    mutating func raiseMembers(
        of place: Int, to level: LevelIndex, before sequence: UInt64, _ effects: inout OperationEffects
    ) {
        guard queues[place].unfinished > 0 else { return }
        // Made first, so that the places of the others do not change.
        let end = queues[place].bucket(level)
        for bucket in 0..<end {
            let old = queues[place].buckets[bucket].level
            while let entry = queues[place].buckets[bucket].members.first, entry.sequence < sequence {
                queues[place].buckets[bucket].members.removeFirst()
                if Self.isMember(entry, of: old, operations) { raise(entry.operation, to: level, &effects) }
            }
        }
    }

    /// Gives an operation a level, and its queue the knowledge of it.
    private mutating func move(_ index: Int, to level: LevelIndex) {
        let (old, queue) = (operations[index].level, operations[index].queue)
        operations[index].level = level
        guard queue != OperationRecord.noQueue, old != level else { return }
        let entry = SequenceQueue.Entry(sequence: operations[index].sequence, operation: UInt32(index))
        let isReady = operations[index].state == .ready
        let place = Int(queue)
        let to = queues[place].bucket(level)
        queues[place].buckets[to].members.enter(entry)
        if isReady { queues[place].buckets[to].ready.enter(entry) }
        leave(place, old, isReady: isReady)
    }

    /// An operation is not meant any more by the entries of that level.
    mutating func leave(_ place: Int, _ level: LevelIndex, isReady: Bool) {
        let bucket = queues[place].bucket(level)
        queues[place].buckets[bucket].members.left { [operations] in Self.isMember($0, of: level, operations) }
        if isReady {
            queues[place].buckets[bucket].ready.left { [operations] in Self.isReady($0, at: level, operations) }
        }
    }

    mutating func note(promotionOf index: Int, to level: LevelIndex, _ effects: inout OperationEffects) {
        guard let new = level.level else { return }
        let state = operations[index].state
        effects.raised.append(
            .init(
                operation: OperationID(index: UInt32(index)), old: operations[index].level.level, new: new,
                isRunning: state == .running || state == .evaluating))
    }

    // MARK: What entries mean

    /// Whether the entry's operation is unfinished, at that level. The number is that of one operation of one queue.
    static func isMember(
        _ entry: SequenceQueue.Entry, of level: LevelIndex, _ operations: borrowing [OperationRecord]
    ) -> Bool {
        let index = Int(entry.operation)
        guard operations[index].sequence == entry.sequence, operations[index].level == level else { return false }
        return operations[index].state != .finished && operations[index].state != .free
    }

    /// Whether the entry's operation is ready, at that level.
    static func isReady(
        _ entry: SequenceQueue.Entry, at level: LevelIndex, _ operations: borrowing [OperationRecord]
    ) -> Bool {
        let index = Int(entry.operation)
        return operations[index].sequence == entry.sequence && operations[index].level == level
            && operations[index].state == .ready
    }
}
