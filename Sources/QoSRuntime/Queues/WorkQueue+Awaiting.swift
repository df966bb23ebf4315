public import QoSCore

extension WorkQueue {
    /// Runs a closure in the queue's turn and returns its result, without blocking a thread.
    ///
    /// The level is that of an asynchronous submission (rule B5), raised to the waiting task's level. It follows later
    /// raises of that task (rule I1). If the task is cancelled before the closure has begun, the closure does not run.
    ///
    /// The closure has the caller's service context and activity, and no other task-local value of the caller.
    ///
    /// - Parameters:
    ///   - level: the closure's own level.
    ///   - flags: none by default, which inherits.
    ///   - body: the work.
    /// - Throws: the closure's error; `CancellationError`, also when a shutdown passes the closure over as
    ///   `WorkItemFlags.onShutdown(_:)` allows.
    @discardableResult
    public func run<Success: Sendable>(
        level: QoSLevel? = nil, flags: WorkItemFlags = [], _ body: @escaping @Sendable () throws -> Success
    ) async throws -> Success {
        let waiter = LevelCode(QoS.waitingLevel)
        let entry = AwaitedEntry(
            queue: core, level: core.asynchronousLevel(level, flags), isBarrier: flags.contains(.barrier),
            waiter: waiter, context: .captured(flags), onShutdown: flags.shutdownBehavior, body: body)
        return try await withRaiseHandler(for: entry) {
            try await withTaskCancellationHandler {
                try await withCheckedThrowingContinuation { continuation in
                    if entry.awaited(by: continuation) {
                        core.add(entry)
                        // A raise of the task before the entry was added was lost.
                        let latest = LevelCode(QoS.waitingLevel)
                        if latest > waiter { core.waitBegan(for: entry, at: latest) }
                    } else {
                        continuation.resume(throwing: CancellationError())
                    }
                }
            } onCancel: {
                entry.cancel()
            }
        } raised: { entry, level in
            entry.queue.waitBegan(for: entry, at: LevelCode(level))
        }
    }

    /// Submits an item and suspends the task until the item's end. Blocks no thread.
    ///
    /// - Throws: ``WorkQueueError/itemAlreadySubmitted``.
    public func run(_ item: WorkItem) async throws(WorkQueueError) {
        try async(item)
        await item.waitUntilFinished()
    }
}
