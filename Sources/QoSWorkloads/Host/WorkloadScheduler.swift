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

    /// Returns a scheduler for tasks that wait for no other work: they have a thread, which no other task gets.
    ///
    /// The host keeps its leases there. Without an implementation it is this scheduler itself.
    func makeReservedThread(name: String) -> any WorkloadScheduler
}

extension WorkloadScheduler {
    /// Returns this scheduler.
    public func makeReservedThread(name: String) -> any WorkloadScheduler { self }
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

    /// Returns a scheduler with one thread at userInteractive. It starts with the first task, and ends with the
    /// scheduler.
    public func makeReservedThread(name: String) -> any WorkloadScheduler { ReservedThread(name: name) }
}

/// The tasks of one thread.
///
/// Threading: any thread.
private final class ReservedThread: WorkloadScheduler {
    private let executor: ThreadExecutor

    init(name: String) {
        executor = ThreadExecutor(name: name)
    }

    deinit {
        executor.end()
    }

    func startWorkload(
        at qosClass: QoSClass, name: String, _ body: @escaping @Sendable () async -> Void
    ) -> Task<Void, Never> {
        Task.detached(
            name: name, executorPreference: executor, priority: TaskPriority(qosClass), operation: { await body() })
    }

    /// Does nothing: the task waits for no other work.
    func raiseWorkload(_ task: Task<Void, Never>, to qosClass: QoSClass) {}
}
