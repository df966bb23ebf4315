public import QoSCore
public import QoSTesting
public import QoSWorkloads

extension DeterministicScheduler: WorkloadScheduler {
    /// Starts a detached task in virtual time.
    @discardableResult
    public func startWorkload(
        at qosClass: QoSClass, name: String, _ body: @escaping @Sendable () async -> Void
    ) -> Task<Void, Never> {
        startDetachedTask(at: qosClass) { await body() }
    }

    /// Raises a task by a wait of that class.
    public func raiseWorkload(_ task: Task<Void, Never>, to qosClass: QoSClass) {
        startDetachedTask(at: qosClass) { await task.value }
    }
}
