import QoSCore
import QoSKernel
import QoSRuntime

extension OperationDomain {
    /// Adds operations to a queue, all of them or none. Those that were cancelled before are passed over.
    func add(_ operations: some Collection<AnyOperation>, to queue: OperationQueueID) throws(OperationError) {
        try change { (state, actions) throws(OperationError) in
            var claimed = 0
            for operation in operations {
                guard !operation.record.wasAdded else {
                    for operation in operations.prefix(claimed) { operation.record.wasAdded = false }
                    throw .addedTwice(operation.name)
                }
                operation.record.wasAdded = true
                claimed += 1
            }
            for operation in operations { state.add(operation, to: queue) }
            if let record = state[queue], !record.observers.isEmpty { actions.observers.append(.init(record)) }
        }
    }

    /// The last reference to an operation is gone. If the graph knows it, it was never added to a queue: what depends on it is
    /// told that it was cancelled.
    func operationReleased(_ record: borrowing DomainRecord) {
        guard let id = record.id else { return }
        change { state, _ in state.forget(id) }
    }

    /// Makes one operation depend on another.
    func addDependency(of child: AnyOperation, on parent: AnyOperation) throws(OperationError) {
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
                throw state.operationError(error, child: child)
            }
        }
    }

    /// Cancels an operation: one that has not started ends at once, one that runs has its task cancelled (rule O11).
    func cancel(_ operation: AnyOperation) {
        change { state, actions in state.cancel(operation, &actions) }
    }

    /// The level that work runs at or will run at, as far as it is known.
    func level(of operation: AnyOperation) -> QoSLevel? {
        look { $0.level(of: operation) }
    }

    /// Sets an operation's level (rules O6, O7); without effect on one that has ended.
    func setLevel(_ level: QoSLevel, of operation: AnyOperation) {
        change { state, _ in
            if case .finished = operation.record.phase { return }
            operation.record.requested = level
            if let id = operation.record.id { state.graph.levelSet(of: id, to: level, &state.effects) }
        }
    }

    // MARK: Waiting

    /// Raises an operation that somebody waits for (rule O9).
    func raise(_ operation: AnyOperation, to level: QoSLevel) {
        change { state, _ in state.raise(operation, to: level) }
    }

    /// Suspends the calling task until an operation has ended; it is raised to the task's level, now and whenever that rises.
    func finished(_ operation: AnyOperation) async {
        if isFinished(operation) { return }
        await withTaskPriorityEscalationHandler {
            await withCheckedContinuation { continuation in
                // The level is looked at with the handler in place: a raise before that would come to nobody.
                if !self.wait(.task(continuation), for: operation, at: QoS.currentLevel) { continuation.resume() }
            }
        } onPriorityEscalated: { _, priority in
            if let qosClass = QoSClass(rawPriority: priority.rawValue) { self.raise(operation, to: QoSLevel(qosClass)) }
        }
    }

    /// Blocks the calling thread until an operation has ended, raised to the thread's level.
    func blockUntilFinished(_ operation: AnyOperation) {
        let thread = BlockedThread()
        if wait(.thread(thread), for: operation, at: QoS.currentLevel) { thread.parker.park() }
    }

    /// Whether an operation has ended.
    func isFinished(_ operation: AnyOperation) -> Bool {
        look { _ in
            if case .finished = operation.record.phase { return true }
            return false
        }
    }

    private func wait(_ waiter: Waiter, for operation: AnyOperation, at level: QoSLevel?) -> Bool {
        change { state, _ in
            if case .finished = operation.record.phase { return false }
            operation.record.waiters.append(waiter)
            if let level { state.raise(operation, to: level) }
            return true
        }
    }
}

extension DomainState {
    /// Adds an operation that is in no queue.
    mutating func add(_ operation: AnyOperation, to queue: OperationQueueID) {
        if case .finished = operation.record.phase { return }
        let id = id(of: operation)
        operation.record.phase = .added
        operation.record.queue = queue
        keep(operation, id)
        let waitedAt = countAdded(to: queue)
        do {
            try graph.operationAdded(id, to: queue, &effects)
        } catch {
            assertionFailure("\(error), though the record said that it was in no queue")
        }
        if let waitedAt { graph.operationWaitedFor(id, at: waitedAt, &effects) }
    }

    mutating func raise(_ operation: AnyOperation, to level: QoSLevel) {
        if case .finished = operation.record.phase { return }
        graph.operationWaitedFor(id(of: operation), at: level, &effects)
    }

    mutating func cancel(_ operation: AnyOperation, _ actions: inout DomainActions) {
        if case .finished = operation.record.phase { return }
        if let runner = operation.record.runner {
            actions.requests.append(runner.cancelled())
            if let id = operation.record.id, graph.isRunning(id) { return }
        }
        operation.keep(CancellationError())
        finish(operation, .cancelled, &actions)
        actions.buried.append(operation)
    }

    /// The graph's refusal in names.
    func operationError(_ error: OperationGraphError, child: AnyOperation) -> OperationError {
        switch error {
        case .cycle(let ids): .dependencyCycle(ids.map(name(of:)))
        case .alreadyStarted: .dependencyAfterStart(child.name)
        case .alreadyInQueue: .addedTwice(child.name)
        case .notSuspended(let queue): .notSuspended("\(queue)")
        }
    }
}
