public import QoSCore
import QoSRuntime

extension BaseOperation {
    /// The operation that runs the calling code; `nil` outside of operations.
    ///
    /// The code may be its body, a condition, a completion closure, or a task that one of these has started.
    public static var current: BaseOperation? { WorkScope.current as? BaseOperation }

    /// The state of the operation.
    public var state: OperationState {
        OperationEngine.shared.look { state in
            switch record.phase {
            case .created: .created
            case .added: record.id.map { state.graph.isRunning($0) } == true ? .running : .waiting
            case .finished(let outcome): .finished(outcome)
            }
        }
    }

    /// The states of the operation, from the present one to its end, for any number of watchers. Watching raises
    /// nothing.
    public var states: OperationStates { OperationStates(operation: self) }

    /// Registers a closure to call when the operation has ended, whatever the outcome. It raises nothing.
    ///
    /// An operation that is released and was never added has not ended, and calls no closure.
    ///
    /// The closure runs in a task of the operation's class, with its service context and activity, on the scheduler of
    /// its queue. It has no other task-local value, neither of the operation's creator nor of the caller. If the operation has already ended, or was in no queue, the closure runs on the process's own
    /// executor. Waiters for the operation do not wait for its closures. Several closures run in the order of their
    /// registration.
    public func whenFinished(_ body: @escaping @Sendable (OperationOutcome) async -> Void) {
        OperationEngine.shared.callWhenFinished(self, body)
    }
}

extension BaseOperation {
    /// The progress of the operation.
    public var progress: OperationProgress {
        OperationEngine.shared.look { _ in
            if let progress = record.progress { return progress }
            var isFinished = false
            if case .finished = record.phase { isFinished = true }
            let progress = OperationProgress(isFinished: isFinished)
            record.progress = progress
            return progress
        }
    }
}
