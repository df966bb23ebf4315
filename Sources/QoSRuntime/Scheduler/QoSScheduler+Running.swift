public import QoSCore

extension QoSScheduler {
    /// Runs an operation at a class, in a task of its own, and returns its result. The wait does not promote the task.
    ///
    /// This is for background work that the calling code owns: the caller waits for its end, and the work stays in the
    /// background.
    ///
    /// ```swift
    /// try await scheduler.run(at: .background) { try await export() }
    /// let hits = try await scheduler.run(at: .utility, promotes: true) { try await search("swift") }
    /// ```
    ///
    /// - **Promotion** (rule I4): with `promotes: true`, a caller of a higher class raises the operation to that class,
    ///   also when the caller is raised later.
    /// - **Cancellation**: cancelling the caller cancels the operation. The call still waits for its end. The operation
    ///   of a caller that is already cancelled runs too, and is cancelled from its first line.
    /// - **Level** (rules B6, S8): the operation submits with its class. An activity or a ``withQoS(_:operation:)``
    ///   around the call gives it no level.
    /// - **Context** (rule X1): the operation has the caller's task-local values, service context and activity.
    ///
    /// Only this wait is silent. A waiter for a lock of the operation promotes it as always.
    ///
    /// ``withQoS(_:operation:)`` runs in the caller's own task instead. There, a waiter for that task promotes the
    /// operation.
    ///
    /// - Parameters:
    ///   - qosClass: The class of the operation.
    ///   - name: The task's name in reports; `nil` for none.
    ///   - promotes: Whether the wait raises the operation to the caller's class.
    ///   - operation: The work.
    /// - Returns: The operation's result.
    /// - Throws: The operation's error. Cancellation alone throws nothing.
    /// - Note: Any task may call it. It returns in the caller's isolation.
    public nonisolated(nonsending) func run<Success: Sendable, Failure: Error>(
        at qosClass: QoSClass, name: String? = nil, promotes: Bool = false,
        operation: sending @escaping () async throws(Failure) -> Success
    ) async throws(Failure) -> Success {
        let isCancelled = Task.isCancelled
        let pending = PendingResult<Success, Failure>()
        let task = startTask(at: qosClass, name: name) { () async -> Result<Success, Failure> in
            if isCancelled { cancelCurrentTask() }
            let result: Result<Success, Failure>
            do throws(Failure) {
                result = .success(try await operation())
            } catch {
                result = .failure(error)
            }
            if !promotes { pending.resolve(with: result) }
            return result
        }
        let result = await withTaskCancellationHandler {
            if promotes { await task.value } else { await pending.get() }
        } onCancel: {
            task.cancel()
        }
        return try result.get()
    }
}

private func cancelCurrentTask() {
    unsafe withUnsafeCurrentTask { task in unsafe task?.cancel() }
}
