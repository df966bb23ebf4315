public import QoSCore

extension QoSScheduler {
    /// Starts a task of a class, on the executor of the class and with its priority.
    ///
    /// Like `Task.init`, it takes the caller's task-local values, and it is not a child: the caller may end first. Its
    /// level is its class: an operation, an activity or a ``withQoS(_:operation:)`` around the call gives it none.
    ///
    /// ```swift
    /// let index = scheduler.startTask(at: .background) { await rebuildIndex() }
    /// ```
    ///
    /// `Task(executorPreference: scheduler.executor(for: .background)) { … }` runs in the same pool, but takes the
    /// priority of the code that makes it. If it is made on the main thread, it is recorded at userInitiated. So are
    /// the tasks that it makes without an executor.
    ///
    /// To wait for the work without promoting it, use ``run(at:name:promotes:operation:)``.
    ///
    /// - Parameters:
    ///   - qosClass: The class of the task, until work of a higher class waits for it (rule I4).
    ///   - name: The task's name in reports; `nil` for none.
    ///   - operation: The task's work.
    /// - Returns: The task.
    @discardableResult
    public func startTask<Success: Sendable>(
        at qosClass: QoSClass, name: String? = nil, operation: sending @escaping () async -> Success
    ) -> Task<Success, Never> {
        let executor = executor(for: qosClass)
        guard LevelScope.levelSurroundsCaller else {
            return Task(
                name: name, executorPreference: executor, priority: TaskPriority(qosClass), operation: operation)
        }
        return Task(name: name, executorPreference: executor, priority: TaskPriority(qosClass)) {
            await LevelScope.withinTask(at: qosClass, operation)
        }
    }

    /// Starts a task of a class that may throw. Otherwise like the other form.
    @discardableResult
    public func startTask<Success: Sendable>(
        at qosClass: QoSClass, name: String? = nil, operation: sending @escaping () async throws -> Success
    ) -> Task<Success, any Error> {
        let executor = executor(for: qosClass)
        guard LevelScope.levelSurroundsCaller else {
            return Task(
                name: name, executorPreference: executor, priority: TaskPriority(qosClass), operation: operation)
        }
        return Task(name: name, executorPreference: executor, priority: TaskPriority(qosClass)) {
            try await LevelScope.withinTask(at: qosClass, operation)
        }
    }

    /// Starts a task of a class that inherits nothing from its creator: no task-local values, no execution context
    /// (rule X2).
    ///
    /// - Parameters:
    ///   - qosClass: The class of the task, until work of a higher class waits for it (rule I4).
    ///   - name: The task's name in reports; `nil` for none.
    ///   - operation: The task's work.
    /// - Returns: The task.
    @discardableResult
    public func startDetachedTask<Success: Sendable>(
        at qosClass: QoSClass, name: String? = nil, operation: sending @escaping () async -> Success
    ) -> Task<Success, Never> {
        Task.detached(
            name: name, executorPreference: executor(for: qosClass), priority: TaskPriority(qosClass),
            operation: operation)
    }

    /// Starts a task of a class that may throw and inherits nothing from its creator. Otherwise like the other form.
    @discardableResult
    public func startDetachedTask<Success: Sendable>(
        at qosClass: QoSClass, name: String? = nil, operation: sending @escaping () async throws -> Success
    ) -> Task<Success, any Error> {
        Task.detached(
            name: name, executorPreference: executor(for: qosClass), priority: TaskPriority(qosClass),
            operation: operation)
    }
}
