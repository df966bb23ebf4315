import QoSCore
import QoSRuntime

/// Who watches an operation from outside. An object, so that an operation that nobody watches has room for its address only.
// SAFETY: read and written under the domain's lock.
final class OperationWatchers: @unchecked Sendable {
    /// What is to be called at an end.
    struct Completion: Sendable {
        let operation: AnyOperation
        let outcome: OperationOutcome
        /// Where it is to run; `nil` for the process's own executor.
        let scheduler: QoSScheduler?
        let qosClass: QoSClass
        let bodies: [@Sendable (OperationOutcome) async -> Void]

        /// Calls them, one after the other, in a task of the operation's class and with its context.
        func start() {
            let executor = scheduler?.executor(for: qosClass)
            Task.detached(executorPreference: executor, priority: qosClass.taskPriority) {
                await WorkScope.$task.withValue(operation) {
                    await operation.inContext { for body in bodies { await body(outcome) } }
                }
            }
        }
    }

    var completions: [@Sendable (OperationOutcome) async -> Void] = []
    /// Woken when its state has changed.
    var observers: [UInt64: AsyncStream<Void>.Continuation] = [:]
    private var lastObserver: UInt64 = 0

    func add(_ observer: AsyncStream<Void>.Continuation) -> UInt64 {
        lastObserver += 1
        observers[lastObserver] = observer
        return lastObserver
    }
}
