public import QoSCore

extension QoSScheduler {
    /// Returns the executor of one class for tasks that declare their treatment at a ``shutdown(within:)``.
    ///
    /// Otherwise like ``executor(for:)-(QoSClass)``. Child tasks inherit the declaration with the preference. The
    /// shutdown waits for a `.finish` task while it is queued or runs. If it should also wait while the task is
    /// suspended, use ``withQoS(_:onShutdown:operation:)``.
    ///
    /// ```swift
    /// Task(executorPreference: scheduler.executor(for: .background, onShutdown: .skip)) {
    ///     try await warmCaches()      // is cancelled when the scheduler is shut down
    /// }
    /// ```
    public func executor(for qosClass: QoSClass, onShutdown behavior: ShutdownBehavior) -> any TaskExecutor {
        poolExecutor(qosClass, behavior)
    }

    /// The executor that runs each job in the pool of its task's priority, for tasks that declare their treatment at a
    /// shutdown.
    public func executor(onShutdown behavior: ShutdownBehavior) -> any TaskExecutor {
        poolExecutor(nil, behavior)
    }

    /// Runs an operation at a class, like ``withQoS(_:operation:)``, and declares its treatment at a
    /// ``shutdown(within:)``.
    ///
    /// With `.finish` the shutdown waits until the operation has ended, suspended or not, as long as its grace lasts.
    /// It raises the operation to `userInitiated`. Use this for work that must not be left half done.
    ///
    /// ```swift
    /// try await scheduler.withQoS(.background, onShutdown: .finish) {
    ///     try await journal.flush()
    /// }
    /// ```
    public nonisolated(nonsending) func withQoS<Success, Failure: Error>(
        _ qosClass: QoSClass, onShutdown behavior: ShutdownBehavior,
        operation: () async throws(Failure) -> Success
    ) async throws(Failure) -> Success {
        let hold = behavior == .finish ? core.beginHold(.task(ConcurrencyRuntime.currentTask)) : nil
        defer { if let hold { core.endHold(hold) } }
        return try await withPreference(of: poolExecutor(qosClass, behavior), qosClass, operation: operation)
    }
}
