import QoSCore
import QoSRuntime

/// What is to be done outside of the domain's lock, after an event.
struct DomainActions: Sendable {
    /// An operation to be started, or asked for its conditions.
    struct Start: Sendable {
        let operation: AnyOperation
        let runner: Runner
        let asksConditions: Bool
    }

    /// To be run by the runner whose operation has just ended.
    var next: AnyOperation?
    var starts: [Start] = []
    var requests: [TaskRequest] = []
    var waiters: [Waiter] = []
    /// Ended without running: they have bodies to be released.
    var buried: [AnyOperation] = []
    var progress: [OperationProgress] = []
    var observers: [QueueProgress.Report] = []
    /// Watchers of operations whose state has changed.
    var watchers: [AsyncStream<Void>.Continuation] = []
    var completions: [OperationWatchers.Completion] = []
    /// Whether more operations can start: the lock was held for long enough.
    var isUnfinished = false
    /// Kept until the lock is released, for it may be the last reference.
    var released: [QoSScheduler] = []
}
