import QoSCore
import QoSRuntime

/// The actions to run outside of the engine's lock, after an event.
struct EngineActions: Sendable {
    /// An operation to start, or to ask for its conditions.
    struct Start: Sendable {
        let operation: BaseOperation
        let runner: Runner
        let asksConditions: Bool
    }

    /// The operation that the runner of the ended one runs next.
    var next: BaseOperation?
    var starts: [Start] = []
    var requests: [TaskRequest] = []
    var waiters: [Waiter] = []
    /// Waiters whose waits would last forever.
    var refused: [(waiter: Waiter, error: OperationError)] = []
    /// Operations that ended without running. Their bodies and conditions have to be released.
    var buried: [BaseOperation] = []
    var progress: [OperationProgress] = []
    var observers: [QueueProgress.Report] = []
    /// Watchers of operations whose state has changed.
    var watchers: [AsyncStream<Void>.Continuation] = []
    var completions: [OperationWatchers.Completion] = []
    /// Whether more operations can start. It is set when the lock was held for long enough.
    var isUnfinished = false
    /// Schedulers that are kept until the lock is released. An element may be the last reference.
    var released: [QoSScheduler] = []
}
