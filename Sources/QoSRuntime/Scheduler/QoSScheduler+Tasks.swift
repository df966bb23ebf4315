public import QoSCore

extension QoSScheduler {
    /// Starts a task of a class: on the executor of the class, and with its priority.
    ///
    /// As `Task.init`, it takes the caller's task-local values, and it is not a child: the caller may end first.
    ///
    /// ```swift
    /// let index = scheduler.startTask(at: .background) { await rebuildIndex() }
    /// ```
    ///
    /// `Task(executorPreference: scheduler.executor(for: .background)) { … }` runs in the same pool, but takes the priority of the code
    /// that makes it: made on the main thread it is recorded at userInitiated. So are the tasks that it makes itself without an executor.
    ///
    /// To wait for the work without promoting it, use ``run(at:name:promotes:operation:)``.
    ///
    /// - Parameters:
    ///   - qosClass: The class of the task, until something of a higher class waits for it (rule I4).
    ///   - name: What the task is called in reports; `nil` for nothing.
    ///   - operation: What the task does.
    /// - Returns: The task.
    @discardableResult
    public func startTask<Success: Sendable>(
        at qosClass: QoSClass, name: String? = nil, operation: sending @escaping () async -> Success
    ) -> Task<Success, Never> {
        Task(
            name: name, executorPreference: executor(for: qosClass), priority: TaskPriority(qosClass),
            operation: operation)
    }

    /// Starts a task of a class that may throw: see the form that does not.
    @discardableResult
    public func startTask<Success: Sendable>(
        at qosClass: QoSClass, name: String? = nil, operation: sending @escaping () async throws -> Success
    ) -> Task<Success, any Error> {
        Task(
            name: name, executorPreference: executor(for: qosClass), priority: TaskPriority(qosClass),
            operation: operation)
    }

    /// Starts a task of a class that has nothing of its creator: no task-local values, no execution context (rule X2).
    ///
    /// - Parameters:
    ///   - qosClass: The class of the task, until something of a higher class waits for it (rule I4).
    ///   - name: What the task is called in reports; `nil` for nothing.
    ///   - operation: What the task does.
    /// - Returns: The task.
    @discardableResult
    public func startDetachedTask<Success: Sendable>(
        at qosClass: QoSClass, name: String? = nil, operation: sending @escaping () async -> Success
    ) -> Task<Success, Never> {
        Task.detached(
            name: name, executorPreference: executor(for: qosClass), priority: TaskPriority(qosClass),
            operation: operation)
    }

    /// Starts a task of a class that may throw and has nothing of its creator: see the form that does not.
    @discardableResult
    public func startDetachedTask<Success: Sendable>(
        at qosClass: QoSClass, name: String? = nil, operation: sending @escaping () async throws -> Success
    ) -> Task<Success, any Error> {
        Task.detached(
            name: name, executorPreference: executor(for: qosClass), priority: TaskPriority(qosClass),
            operation: operation)
    }
}
