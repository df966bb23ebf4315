extension OperationGraph {
    /// Ends an operation: its body ended, its conditions failed, or it was cancelled before its start.
    ///
    /// Its dependents get ready, or end by their policies (rule O11). The effects name the operations that ended with
    /// it.
    package mutating func operationFinished(
        _ id: OperationID, _ outcome: OperationOutcome, _ effects: inout OperationEffects
    ) {
        end(id.index, outcome, &effects)
        startReady(&effects)
    }

    /// Ends an operation, and those that have to end with it. The effects name only the others, unless one of them is
    /// the cause.
    mutating func end(_ operation: UInt32, _ outcome: OperationOutcome, _ effects: inout OperationEffects) {
        guard operations[Int(operation)].state != .finished else { return }
        endOne(operation, outcome, &effects)
        if outcome == .dependencyFailed { note(endOf: operation, &effects) }
        while let next = endedOperations.popLast() {
            // A second parent of it may have failed meanwhile.
            guard operations[Int(next.operation)].state != .finished else { continue }
            endOne(next.operation, next.outcome, &effects)
            note(endOf: next.operation, &effects)
        }
    }

    private func note(endOf operation: UInt32, _ effects: inout OperationEffects) {
        effects.finished.append(.init(operation: OperationID(index: operation), outcome: .dependencyFailed))
    }

    private mutating func endOne(_ operation: UInt32, _ outcome: OperationOutcome, _ effects: inout OperationEffects) {
        let record = operations[Int(operation)]
        operations[Int(operation)].state = .finished
        if record.queue != OperationRecord.noQueue { leaveQueue(record, &effects) }

        if record.unfinishedParents > 0 { dropParents(operation) }
        var edge = record.firstDependent
        operations[Int(operation)].firstDependent = DependencyEdges.none
        while edge != DependencyEdges.none {
            let (child, next) = (edges[edge].child, edges[edge].nextOfParent)
            if child != DependencyEdges.none {
                unlinkFromChild(edge)
                parentEnded(of: child, outcome, &effects)
            }
            edges.free(edge)
            edge = next
        }
    }

    private mutating func parentEnded(of child: UInt32, _ outcome: OperationOutcome, _ effects: inout OperationEffects)
    {
        operations[Int(child)].unfinishedParents -= 1
        if outcome != .succeeded, operations[Int(child)].policy == .cancel {
            if operations[Int(child)].state == .created {
                operations[Int(child)].isDoomed = true
            } else {
                endedOperations.append((child, .dependencyFailed))
            }
        } else if operations[Int(child)].unfinishedParents == 0, operations[Int(child)].state == .waiting {
            dependenciesMet(child, &effects)
        }
    }

    /// Drops the dependencies of an operation that ends before them. Its parents then skip it.
    private mutating func dropParents(_ operation: UInt32) {
        var edge = operations[Int(operation)].firstParent
        while edge != DependencyEdges.none {
            edges[edge].child = DependencyEdges.none
            edge = edges[edge].nextOfChild
        }
        operations[Int(operation)].firstParent = DependencyEdges.none
        operations[Int(operation)].unfinishedParents = 0
    }

    private mutating func leaveQueue(_ record: OperationRecord, _ effects: inout OperationEffects) {
        let place = Int(record.queue)
        leave(place, record.level, isReady: record.state == .ready)
        if record.state == .running { queues[place].running -= 1 }
        queues[place].unfinished -= 1
        queues[place].operationFinished(inSegment: record.segment)
        if record.promotionEpoch == queues[place].promotionEpoch {
            queues[place].promotionHolders -= 1
            if queues[place].promotionHolders == 0, queues[place].lifetime == .whilePresent {
                queues[place].endPromotion()
            }
        }
        advanceSegments(place)
        unrest(record.queue)
        if queues[place].unfinished == 0 {
            effects.idle.append(OperationQueueID(index: record.queue))
        }
    }
}
