import QoSCore
import QoSRuntime

/// The watchers of an operation. It is an object, so an operation without watchers only has room for its address.
// SAFETY: read and written under the engine's lock.
final class OperationWatchers: @unchecked Sendable {
    /// A closure to call at an operation's end.
    struct Completion: Sendable {
        let operation: BaseOperation
        let outcome: OperationOutcome
        /// The scheduler of the call; `nil` for the process's own executor.
        let scheduler: QoSScheduler?
        let qosClass: QoSClass
        let bodies: [@Sendable (OperationOutcome) async -> Void]

        /// Calls the closures, one after the other, in a task of the operation's class and with its context.
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
    /// The observers that are woken when the state has changed.
    var observers: [UInt64: AsyncStream<Void>.Continuation] = [:]
    private var lastObserver: UInt64 = 0

    func add(_ observer: AsyncStream<Void>.Continuation) -> UInt64 {
        lastObserver += 1
        observers[lastObserver] = observer
        return lastObserver
    }
}
