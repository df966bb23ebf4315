import QoSCore

extension OperationEngine {
    /// Calls a closure when an operation has ended, or at once if it has.
    func callWhenFinished(
        _ operation: BaseOperation, _ body: @escaping @Sendable (OperationOutcome) async -> Void
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

    /// Wakes a watcher whenever the state of an operation may have changed, until the watcher or the operation ends.
    func watch(_ operation: BaseOperation, _ watcher: AsyncStream<Void>.Continuation) {
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
