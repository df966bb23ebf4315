public import QoSCore

extension QoSScheduler {
    /// The executor of one class for tasks that declare what becomes of them at a ``shutdown(within:)``.
    ///
    /// Otherwise as ``executor(for:)``; child tasks inherit the declaration with the preference. A task that blocks is waited for
    /// while it is queued or runs; to be waited for while it is suspended too, it uses ``withQoS(_:onShutdown:operation:)``.
    ///
    /// ```swift
    /// Task(executorPreference: scheduler.executor(for: .background, onShutdown: .skip)) {
    ///     try await warmCaches()      // is cancelled when the scheduler is shut down
    /// }
    /// ```
    public func executor(for qosClass: QoSClass, onShutdown behavior: ShutdownBehavior) -> any TaskExecutor {
        poolExecutor(qosClass, behavior)
    }

    /// The executor that runs each job in the pool of its task's priority, for tasks that declare what becomes of them.
    public func executor(onShutdown behavior: ShutdownBehavior) -> any TaskExecutor {
        poolExecutor(nil, behavior)
    }

    /// Runs an operation at a class, as ``withQoS(_:operation:)``, and declares what becomes of it at a ``shutdown(within:)``.
    ///
    /// With `.block` the shutdown waits until the operation has ended, suspended or not, as long as its grace lasts, and raises it
    /// to `userInitiated`: for what must not be left half done.
    ///
    /// ```swift
    /// try await scheduler.withQoS(.background, onShutdown: .block) {
    ///     try await journal.flush()
    /// }
    /// ```
    public nonisolated(nonsending) func withQoS<Success, Failure: Error>(
        _ qosClass: QoSClass, onShutdown behavior: ShutdownBehavior,
        operation: () async throws(Failure) -> Success
    ) async throws(Failure) -> Success {
        let hold = behavior == .block ? core.beginHold(.task(ConcurrencyRuntime.currentTask)) : nil
        defer { if let hold { core.endHold(hold) } }
        return try await withPreference(of: poolExecutor(qosClass, behavior), qosClass, operation: operation)
    }
}
