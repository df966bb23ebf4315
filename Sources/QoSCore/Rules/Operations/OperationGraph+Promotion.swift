extension OperationGraph {
    /// Sets the level of an operation (rules O6, O7).
    ///
    /// A higher level raises its children, the operations before it in its queue, and what all these depend on or wait
    /// for. A lower level changes only the operation.
    package mutating func levelSet(of id: OperationID, to level: QoSLevel, _ effects: inout OperationEffects) {
        let (index, new) = (Int(id.index), LevelIndex(level))
        let record = operations[index]
        guard record.state != .finished else { return }
        operations[index].isResolved = true
        guard new > record.level else {
            move(index, to: new, lowering: new.lowering)
            return
        }
        note(promotionOf: index, to: new, &effects)
        move(index, to: new, lowering: new.lowering)
        if hasSomethingAbove(id.index) { raisedOperations.append(id.index) }
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

    /// Takes back the level of an operation. It infers its level again (rule O1): in a queue at once, else when it is
    /// added. The new level counts like one that was set (rules O6, O7).
    package mutating func levelUnset(of id: OperationID, _ effects: inout OperationEffects) {
        let record = operations[Int(id.index)]
        if record.queue != OperationRecord.noQueue {
            let standing = queues[Int(record.queue)].level.level
            levelSet(of: id, to: record.origin.level(inQueueAt: standing).raised(to: standing), &effects)
        } else if let inferred = record.origin.operation {
            levelSet(of: id, to: inferred, &effects)
        } else if record.state == .created {
            operations[Int(id.index)].level = .none
            operations[Int(id.index)].lowering = LevelIndex.none.lowering
            operations[Int(id.index)].isResolved = false
        }
    }

    /// Raises an operation, and its dependencies (rule O5), to the level of a waiter (rule O9). It is called when the
    /// wait begins, and when a waiter is raised that is no operation.
    ///
    /// - Parameters:
    ///   - id: the operation.
    ///   - level: the waiter's level.
    ///   - inOrder: whether the wait is for the whole queue, so that the operation keeps its order among the others.
    ///   - effects: receives the actions.
    package mutating func operationWaitedFor(
        _ id: OperationID, at level: QoSLevel, inOrder: Bool = false, _ effects: inout OperationEffects
    ) {
        let new = LevelIndex(level)
        raise(id.index, to: new, lowering: inOrder ? nil : new.lowering, &effects)
        raiseParents(to: new, &effects)
    }

    // MARK: Raising

    /// Raises an unfinished operation, and adds it to the list of those whose parents and awaited ones follow.
    ///
    /// - Parameter lowering: the operation's distance behind others of that level from now on, at most; `nil` for one
    ///   that is raised together with others, and keeps its order among them.
    mutating func raise(
        _ operation: UInt32, to level: LevelIndex, lowering: UInt8? = nil, _ effects: inout OperationEffects
    ) {
        let index = Int(operation)
        let record = operations[index]
        let lowering = min(lowering ?? record.lowering, record.lowering)
        guard record.state != .finished, record.level < level || (record.level == level && lowering < record.lowering)
        else { return }
        if record.level < level { note(promotionOf: index, to: level, &effects) }
        move(index, to: level, lowering: lowering)
        if hasSomethingAbove(operation) { raisedOperations.append(operation) }
    }

    /// Whether an operation depends on something or waits in its body.
    private func hasSomethingAbove(_ operation: UInt32) -> Bool {
        operations[Int(operation)].firstParent != DependencyEdges.none
            || !waits.isEmpty && waits.isWaiting(operation)
    }

    /// Raises the parents of the listed operations (rule O5) and what these wait for (rule O9), and theirs, until
    /// nothing changes.
    mutating func raiseParents(to level: LevelIndex, _ effects: inout OperationEffects) {
        while let operation = raisedOperations.popLast() {
            var edge = operations[Int(operation)].firstParent
            while edge != DependencyEdges.none {
                let next = edges[edge]
                raise(next.parent, to: level, lowering: operations[Int(operation)].lowering, &effects)
                edge = next.nextOfChild
            }
            if !waits.isEmpty { raiseAwaited(by: operation, to: level, &effects) }
        }
    }

    private mutating func raiseAwaited(by waiter: UInt32, to level: LevelIndex, _ effects: inout OperationEffects) {
        for target in waits.promotedTargets(of: waiter) {
            switch target {
            case .operation(let awaited):
                raise(awaited, to: level, lowering: operations[Int(waiter)].lowering, &effects)
            case .queue(let queue): raiseMembers(of: Int(queue), to: level, before: .max, &effects)
            }
        }
    }

    /// Raises the unfinished operations of a queue that were added before a number.
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

    /// Sets the level and the order of an operation, and updates its queue.
    private mutating func move(_ index: Int, to level: LevelIndex, lowering: UInt8) {
        let old = operations[index]
        (operations[index].level, operations[index].lowering) = (level, lowering)
        guard old.queue != OperationRecord.noQueue, old.level != level || old.lowering != lowering else { return }
        let (place, isReady) = (Int(old.queue), old.state == .ready)
        let to = queues[place].bucket(level)
        if old.level != level {
            queues[place].buckets[to].members.enter(.init(sequence: old.sequence, operation: UInt32(index)))
            leaveMembers(place, old.level)
        }
        if isReady {
            queues[place].buckets[to].ready.enter(
                .init(sequence: operations[index].turn, operation: UInt32(index)))
            leaveReady(place, old.level)
        }
    }

    /// Invalidates an operation's entries of a level.
    mutating func leave(_ place: Int, _ level: LevelIndex, isReady: Bool) {
        leaveMembers(place, level)
        if isReady { leaveReady(place, level) }
    }

    private mutating func leaveMembers(_ place: Int, _ level: LevelIndex) {
        let bucket = queues[place].bucket(level)
        queues[place].buckets[bucket].members.left { [operations] in Self.isMember($0, of: level, operations) }
    }

    private mutating func leaveReady(_ place: Int, _ level: LevelIndex) {
        let bucket = queues[place].bucket(level)
        queues[place].buckets[bucket].ready.left { [operations] in Self.isReady($0, at: level, operations) }
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

    /// Whether the entry's operation is unfinished, at that level. The number belongs to one operation of one queue.
    static func isMember(
        _ entry: SequenceQueue.Entry, of level: LevelIndex, _ operations: borrowing [OperationRecord]
    ) -> Bool {
        let index = Int(entry.operation)
        guard operations[index].sequence == entry.sequence, operations[index].level == level else { return false }
        return operations[index].state != .finished && operations[index].state != .free
    }

    /// Whether the entry's operation is ready, at that level. The number is its turn.
    static func isReady(
        _ entry: SequenceQueue.Entry, at level: LevelIndex, _ operations: borrowing [OperationRecord]
    ) -> Bool {
        let index = Int(entry.operation)
        return operations[index].turn == entry.sequence && operations[index].level == level
            && operations[index].state == .ready
    }
}
