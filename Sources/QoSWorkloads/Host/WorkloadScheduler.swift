public import QoSRuntime

/// The threads that a host uses. `QoSScheduler` is one; tests use a deterministic one.
public protocol WorkloadScheduler: Sendable {
    /// Starts a task of a class that inherits nothing from its creator.
    @discardableResult
    func startWorkload(
        at qosClass: QoSClass, name: String, _ body: @escaping @Sendable () async -> Void
    ) -> Task<Void, Never>

    /// Raises a task that waits or runs (rule O8).
    func raiseWorkload(_ task: Task<Void, Never>, to qosClass: QoSClass)
}

extension QoSScheduler: WorkloadScheduler {
    /// Starts a detached task on the class's executor.
    @discardableResult
    public func startWorkload(
        at qosClass: QoSClass, name: String, _ body: @escaping @Sendable () async -> Void
    ) -> Task<Void, Never> {
        startDetachedTask(at: qosClass, name: name) { await body() }
    }

    /// Raises the task; see ``raise(_:to:)``.
    public func raiseWorkload(_ task: Task<Void, Never>, to qosClass: QoSClass) {
        raise(task, to: qosClass)
    }
}
