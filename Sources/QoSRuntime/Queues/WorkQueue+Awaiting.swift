public import QoSCore

extension WorkQueue {
    /// Runs a closure in the queue's turn and returns what it returns, without blocking a thread.
    ///
    /// The level is that of an asynchronous submission (rule B5), raised to the waiting task's, also when that is raised later
    /// (rule I1). A closure that has not begun when the task is cancelled does not run.
    ///
    /// - Parameters:
    ///   - level: the closure's own level.
    ///   - flags: none by default, which inherits.
    ///   - body: the work.
    /// - Throws: what the closure throws; `CancellationError`, also where `WorkItemFlags.onShutdown(_:)` lets it be passed over.
    @discardableResult
    public func run<Success: Sendable>(
        level: QoSLevel? = nil, flags: WorkItemFlags = [], _ body: @escaping @Sendable () throws -> Success
    ) async throws -> Success {
        let waiter = LevelCode(QoS.currentLevel)
        let entry = AwaitedEntry(
            queue: core, level: core.asynchronousLevel(level, flags), isBarrier: flags.contains(.barrier),
            waiter: waiter, context: .captured(flags), onShutdown: flags.shutdownBehavior, body: body)
        return try await withRaiseHandler(for: entry) {
            try await withTaskCancellationHandler {
                try await withCheckedThrowingContinuation { continuation in
                    if entry.awaited(by: continuation) {
                        core.add(entry)
                        // Before it was added, a raise of the task came to nobody.
                        let latest = LevelCode(QoS.currentLevel)
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

    /// Submits an item and waits for its end, without blocking a thread.
    ///
    /// - Throws: ``WorkQueueError/itemAlreadySubmitted``.
    public func run(_ item: WorkItem) async throws(WorkQueueError) {
        try async(item)
        await item.finished()
    }
}
