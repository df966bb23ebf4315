import QoSCore
import QoSKernel
import QoSRuntime

extension OperationEngine {
    /// Tells the graph that the last reference to an operation is gone. If the graph knows the operation, it was never
    /// added to a queue. Its dependents then see it as cancelled.
    func operationReleased(_ record: borrowing EngineRecord) {
        guard let id = record.id else { return }
        change { state, _ in state.forget(id) }
    }

    /// Makes one operation depend on another.
    func addDependency(of child: BaseOperation, on parent: BaseOperation) throws(OperationError) {
        try change { (state, _) throws(OperationError) in
            if case .finished = child.record.phase { throw .dependencyAfterStart(child.name) }
            let id = state.id(of: child)
            do throws(OperationGraphError) {
                if case .finished(let outcome) = parent.record.phase {
                    try state.graph.dependencyAdded(of: id, onFinished: outcome, &state.effects)
                } else {
                    try state.graph.dependencyAdded(of: id, on: state.id(of: parent), &state.effects)
                }
            } catch {
                throw state.operationError(error, of: child)
            }
        }
    }

    /// Removes a dependency of one operation on another.
    func removeDependency(of child: BaseOperation, on parent: BaseOperation) throws(OperationError) {
        try change { (state, _) throws(OperationError) in
            if case .finished = child.record.phase { throw .dependencyAfterStart(child.name) }
            guard let id = child.record.id else { return }
            do throws(OperationGraphError) {
                try state.graph.checkTakesDependencies(id)
                guard let other = parent.record.id else { return }
                try state.graph.dependencyRemoved(of: id, on: other, &state.effects)
            } catch {
                throw state.operationError(error, of: child)
            }
        }
    }

    /// The unfinished dependencies of an operation that are in queues.
    func unfinishedDependencies(of operation: BaseOperation) -> [BaseOperation] {
        look { state in
            guard let id = operation.record.id else { return [] }
            return state.graph.unfinishedParents(of: id).reversed().compactMap { state.operation($0) }
        }
    }

    /// Cancels an operation (rule O11). One that has not started ends at once. For a running one, its task is
    /// cancelled.
    func cancel(_ operation: BaseOperation) {
        change { state, actions in state.cancel(operation, &actions) }
    }

    /// Cancels many operations, each for itself, whatever their dependencies are.
    func cancel(all operations: [BaseOperation]) {
        for piece in Self.pieces(of: operations) {
            look { _ in
                for operation in piece { operation.record.isCancelled = true }
            }
        }
        for piece in Self.pieces(of: operations) {
            giveWay()
            change { state, actions in
                for operation in piece { state.cancel(operation, &actions) }
            }
        }
    }

    /// The level at which an operation runs or will run, if it is known.
    func level(of operation: BaseOperation) -> QoSLevel? {
        look { $0.level(of: operation) }
    }

    /// Sets an operation's level (rules O6, O7), or gives it up (O1); without effect on one that has ended.
    func setLevel(_ level: QoSLevel?, of operation: BaseOperation) {
        change { state, _ in
            if case .finished = operation.record.phase { return }
            let level = level ?? operation.kind.level
            guard level != nil || operation.record.requested != nil else { return }
            operation.record.requested = level
            guard let id = operation.record.id else { return }
            if let level {
                state.graph.levelSet(of: id, to: level, &state.effects)
            } else {
                state.graph.levelUnset(of: id, &state.effects)
            }
        }
    }
}

extension EngineState {
    mutating func cancel(_ operation: BaseOperation, _ actions: inout EngineActions) {
        if case .finished = operation.record.phase { return }
        countHandled()
        operation.record.isCancelled = true
        if let runner = operation.record.runner {
            actions.requests.append(runner.cancelled())
            if let id = operation.record.id, graph.isRunning(id) { return }
        }
        operation.keep(CancellationError())
        finish(operation, .cancelled, &actions)
        actions.buried.append(operation)
    }

    /// Turns the graph's refusal into an error with names.
    ///
    /// - Parameter operation: the operation whose dependency or wait was refused.
    func operationError(_ error: OperationGraphError, of operation: BaseOperation) -> OperationError {
        switch error {
        case .cycle(let ids): .dependencyCycle(ids.map(name(of:)))
        case .alreadyStarted: .dependencyAfterStart(operation.name)
        case .alreadyInQueue: .addedTwice(operation.name)
        case .deadlock(let waits): waits.count > 1 ? deadlock(waits) : .waitsForItself(operation.name)
        case .notSuspended(let queue): .notSuspended("\(queue)")
        }
    }

    /// Turns a deadlock of the graph into an error with names.
    func deadlock(_ waits: [GraphWait]) -> OperationError {
        .deadlock(
            waits.map { OperationWait(waiter: name(of: $0.waiter), awaited: name(of: $0.awaited), reason: $0.cause) })
    }
}
