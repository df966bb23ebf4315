extension OperationGraph {
    /// Adds a dependency on another operation. The other one takes this level if it is higher (rule O5).
    ///
    /// A parent that has finished is not waited for. Its outcome counts as if it finished now.
    ///
    /// - Complexity: O(1) as long as graphs grow at an end. In general, twice the smaller of two numbers: the
    ///   operations that the parent depends on, and those that depend on the child.
    /// - Throws: ``OperationGraphError/alreadyStarted(_:)``; ``OperationGraphError/cycle(_:)`` (rule O10);
    ///   ``OperationGraphError/deadlock(_:)`` if a barrier, a limit or a wait takes part in the cycle.
    package mutating func dependencyAdded(
        of child: OperationID, on parent: OperationID, _ effects: inout OperationEffects
    ) throws(OperationGraphError) {
        try checkTakesDependencies(child)
        if let cycle = cycle(closedBy: child.index, dependingOn: parent.index) {
            throw .cycle(cycle.map(OperationID.init(index:)))
        }
        if let waits = deadlock(closedBy: child, dependingOn: parent) { throw .deadlock(waits) }
        leaveReady(child.index)
        let edge = edges.insert(
            .init(
                parent: parent.index, child: child.index, nextOfChild: operations[Int(child.index)].firstParent,
                previousOfChild: DependencyEdges.none, nextOfParent: operations[Int(parent.index)].firstDependent))
        let first = operations[Int(child.index)].firstParent
        if first != DependencyEdges.none { edges[first].previousOfChild = edge }
        operations[Int(child.index)].firstParent = edge
        operations[Int(child.index)].unfinishedParents += 1
        operations[Int(parent.index)].firstDependent = edge

        let level = operations[Int(child.index)].level
        raise(parent.index, to: level, lowering: operations[Int(child.index)].lowering, &effects)
        raiseParents(to: level, &effects)
    }

    /// Adds a dependency on an operation that had finished with this outcome and was forgotten.
    ///
    /// - Throws: ``OperationGraphError/alreadyStarted(_:)``.
    package mutating func dependencyAdded(
        of child: OperationID, onFinished outcome: OperationOutcome, _ effects: inout OperationEffects
    ) throws(OperationGraphError) {
        try checkTakesDependencies(child)
        guard outcome != .succeeded, operations[Int(child.index)].policy == .cancel else { return }
        if operations[Int(child.index)].state == .created {
            operations[Int(child.index)].isDoomed = true
        } else {
            end(child.index, .dependencyFailed, &effects)
            startReady(&effects)
        }
    }

    /// Removes all dependencies of one operation on another. The other one keeps its level (rule O5 only raises).
    ///
    /// It has no effect without such a dependency, or if the other one has ended: then its outcome has counted.
    ///
    /// - Complexity: O(n) for n dependencies of the child.
    /// - Throws: ``OperationGraphError/alreadyStarted(_:)`` (rule O10).
    package mutating func dependencyRemoved(
        of child: OperationID, on parent: OperationID, _ effects: inout OperationEffects
    ) throws(OperationGraphError) {
        try checkTakesDependencies(child)
        let index = Int(child.index)
        var edge = operations[index].firstParent
        while edge != DependencyEdges.none {
            let next = edges[edge].nextOfChild
            if edges[edge].parent == parent.index {
                unlinkFromChild(edge)
                // The parent passes over it, and gives it back, when it ends.
                edges[edge].child = DependencyEdges.none
                operations[index].unfinishedParents -= 1
                if operations[index].unfinishedParents == 0, operations[index].state == .waiting {
                    dependenciesMet(child.index, &effects)
                }
            }
            edge = next
        }
        startReady(&effects)
    }

    /// Returns the unfinished dependencies of an operation, each once, the last added first.
    package func unfinishedParents(of id: OperationID) -> [OperationID] {
        var parents: [OperationID] = []
        var seen: Set<UInt32> = []
        var edge = operations[Int(id.index)].firstParent
        while edge != DependencyEdges.none {
            if seen.insert(edges[edge].parent).inserted { parents.append(OperationID(index: edges[edge].parent)) }
            edge = edges[edge].nextOfChild
        }
        return parents
    }

    /// Checks that the dependencies of an operation may still change.
    ///
    /// - Throws: ``OperationGraphError/alreadyStarted(_:)`` (rule O10).
    package func checkTakesDependencies(_ child: OperationID) throws(OperationGraphError) {
        switch operations[Int(child.index)].state {
        case .created, .waiting, .held, .ready: return
        case .free, .evaluating, .running, .finished: throw .alreadyStarted(child)
        }
    }

    /// Makes a ready operation unready.
    private mutating func leaveReady(_ operation: UInt32) {
        let record = operations[Int(operation)]
        guard record.state == .ready || record.state == .held else { return }
        operations[Int(operation)].state = .waiting
        guard record.state == .ready else { return }
        let (place, level) = (Int(record.queue), record.level)
        let bucket = queues[place].bucket(level)
        queues[place].buckets[bucket].ready.left { [operations] in Self.isReady($0, at: level, operations) }
    }

    /// Takes an edge out of its child's list. Its parent's list is given up as a whole.
    mutating func unlinkFromChild(_ edge: UInt32) {
        let (next, previous, child) = (edges[edge].nextOfChild, edges[edge].previousOfChild, edges[edge].child)
        if next != DependencyEdges.none { edges[next].previousOfChild = previous }
        if previous != DependencyEdges.none {
            edges[previous].nextOfChild = next
        } else {
            operations[Int(child)].firstParent = next
        }
    }
}
