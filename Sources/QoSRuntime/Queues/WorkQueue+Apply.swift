import QoSCore

extension WorkQueue {
    /// Runs a closure for each of the numbers 0 to `count` − 1, as many at once as the queue allows. Returns when all
    /// have run (rule B14).
    ///
    /// The calling thread takes part, in the queue's turn. Workers of the pool of its level help. On a serial queue the
    /// calling thread runs them one after the other. Higher work that waits for the calling thread raises the helpers.
    ///
    /// A helper's wait in the closure may wait for the calling thread, which waits for the helpers. The helper's wait
    /// is then refused, for example with ``WorkQueueError/deadlock(waits:)`` by `sync`.
    ///
    /// - Parameters:
    ///   - count: 0 or less runs nothing.
    ///   - body: called once for each number, by several threads at once.
    /// - Throws: ``WorkQueueError/wouldDeadlock(_:)``, like a synchronous submission.
    public func apply(_ count: Int, _ body: @Sendable (Int) -> Void) throws(WorkQueueError) {
        let level = LevelCode(WorkSubmission(submitter: QoS.currentLevel).synchronousLevel)
        try core.checkMayWait(isBarrier: false)
        guard count > 0 else { return }
        try withoutActuallyEscaping(body) { (body) throws(WorkQueueError) in
            let work = ParallelWork(count: count, of: core, at: level, context: .captured([]), body: body)
            let width = core.core.group.pools[level.rank].width
            let helpers = core.isSerialThroughout ? 0 : min(count, width) - 1
            if helpers > 0 { core.callHelp(for: work, at: level, helpers: helpers) }
            defer {
                if helpers > 0 { core.parallelHelp.ended(work, at: level) }
                work.finish()
            }
            try core.sync(level: level, caller: level, isBarrier: false) { work.takePart() }
        }
    }

    /// Runs a closure for each of the numbers 0 to `count` − 1, as many at once as the queue allows. Blocks no thread
    /// (rule B14).
    ///
    /// - Parameters:
    ///   - count: 0 or less runs nothing.
    ///   - body: called once for each number, by several threads at once.
    /// - Throws: `CancellationError` when the task is cancelled. Numbers that have not begun are left out.
    public func apply(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) async throws {
        guard count > 0 else { return }
        let level = core.asynchronousLevel(nil, [])
        let width = core.isSerialThroughout ? 1 : core.core.group.pools[level.rank].width
        let work = ParallelWork(count: count, of: core, at: level, body: body)
        try await withTaskCancellationHandler {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<min(count, width) {
                    group.addTask { try await self.run { work.takePart() } }
                }
                try await group.waitForAll()
            }
        } onCancel: {
            work.stop()
        }
        try Task.checkCancellation()
    }
}

extension QueueCore {
    /// Adds the entries that a loop lacks to have the given number of helpers.
    fileprivate func callHelp(for work: ParallelWork, at level: LevelCode, helpers: Int) {
        for _ in 0..<parallelHelp.began(work, at: level, wanted: helpers) {
            add(
                ClosureEntry(queue: self, level: level, isBarrier: false) { [parallelHelp] in
                    parallelHelp.help(at: level)
                })
        }
    }

    /// Whether the queue, or a queue that it targets, runs one item at a time.
    var isSerialThroughout: Bool {
        var queue: QueueCore? = self
        while let step = queue {
            if step.kind == .serial { return true }
            queue = step.target
        }
        return false
    }
}
