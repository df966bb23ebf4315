public import QoSCore
import QoSRuntime

extension AnyOperation {
    /// The operation in whose execution the calling code stands: its body, its conditions, what its completion calls, and the tasks
    /// that those have started; `nil` outside of operations.
    public static var current: AnyOperation? { WorkScope.current as? AnyOperation }

    /// Where the operation stands.
    public var state: OperationState {
        OperationDomain.shared.look { state in
            switch record.phase {
            case .created: .created
            case .added: record.id.map { state.graph.isRunning($0) } == true ? .running : .waiting
            case .finished(let outcome): .finished(outcome)
            }
        }
    }

    /// The state of the operation and what it changes to, up to its end; for any number of watchers. Watching raises nothing.
    public var states: OperationStates { OperationStates(operation: self) }

    /// Has something called when the operation has ended, in whatever way; at once if it has. It raises nothing.
    ///
    /// One that is released without having been added to a queue has not ended, and calls nobody.
    ///
    /// It is called in a task of the operation's class, with its service context and its activity, on the scheduler of its queue; for
    /// one that has ended already or was in no queue, on the process's own executor. What waits for the operation does not wait
    /// for that. More than one are called in the order in which they came.
    public func whenFinished(_ body: @escaping @Sendable (OperationOutcome) async -> Void) {
        OperationDomain.shared.callWhenFinished(self, body)
    }
}

extension OperationDomain {
    fileprivate func callWhenFinished(
        _ operation: AnyOperation, _ body: @escaping @Sendable (OperationOutcome) async -> Void
    ) {
        change { _, actions in
            guard case .finished(let outcome) = operation.record.phase else {
                operation.record.watchers = operation.record.watchers ?? OperationWatchers()
                operation.record.watchers?.completions.append(body)
                return
            }
            actions.completions.append(
                .init(
                    operation: operation, outcome: outcome, scheduler: nil,
                    qosClass: operation.record.finalLevel?.qosClass ?? .default, bodies: [body]))
        }
    }

    /// Wakes somebody whenever the state of an operation may have changed, until they end it or it has ended.
    func watch(_ operation: AnyOperation, _ watcher: AsyncStream<Void>.Continuation) {
        let number: UInt64? = look { _ in
            if case .finished = operation.record.phase { return nil }
            operation.record.watchers = operation.record.watchers ?? OperationWatchers()
            return operation.record.watchers?.add(watcher)
        }
        guard let number else { return }
        watcher.onTermination = { [weak operation] _ in
            guard let operation else { return }
            // Released outside of the lock.
            _ = self.look { _ in operation.record.watchers?.observers.removeValue(forKey: number) }
        }
    }
}
