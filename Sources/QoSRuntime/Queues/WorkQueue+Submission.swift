public import QoSCore

extension WorkQueue {
    /// Submits a closure and returns at once.
    ///
    /// The level is the first of these that is given (rule B5): the queue's level, the level of the targeted global
    /// queue, `level`, the level of the calling code. The flags may change the level (rule B8).
    ///
    /// The service context and the activity travel (rule X2). Other task-local values do not: Swift has no call that takes
    /// them along. Read one before the submission, and bind it in the closure.
    ///
    /// - Parameters:
    ///   - level: the closure's own level.
    ///   - flags: none by default, which inherits.
    ///   - body: the work.
    public func async(
        level: QoSLevel? = nil, flags: WorkItemFlags = [], _ body: @escaping @Sendable () -> Void
    ) {
        core.add(
            ClosureEntry(
                queue: core, level: core.asynchronousLevel(level, flags), isBarrier: flags.contains(.barrier),
                context: .captured(flags), onShutdown: flags.shutdownBehavior, body: body)
        )
    }

    /// Submits a closure that runs alone on a concurrent queue: after all earlier items and before all later ones (rule
    /// B11).
    public func asyncBarrier(
        level: QoSLevel? = nil, flags: WorkItemFlags = [], _ body: @escaping @Sendable () -> Void
    ) {
        async(level: level, flags: flags.union(.barrier), body)
    }

    /// Submits an item and returns at once. Its level is resolved like that of a closure, from its own level and flags.
    ///
    /// - Throws: ``WorkQueueError/itemAlreadySubmitted``.
    public func async(_ item: WorkItem) throws(WorkQueueError) {
        let entry = ItemEntry(
            item, queue: core, level: core.asynchronousLevel(item.level, item.flags),
            isBarrier: item.flags.contains(.barrier), context: item.contextAtSubmission)
        try item.submitted(as: entry)
        core.add(entry)
    }

    /// Runs a closure in the queue's turn and returns its result. The level is the higher one of the calling thread's
    /// and the closure's (rule B7).
    ///
    /// If the queue is idle, the closure runs on the calling thread, without a change of threads. Else the thread
    /// waits, which raises the entries before the closure (rule I1). A waiting worker runs these entries itself if no
    /// other thread does.
    ///
    /// - Parameters:
    ///   - level: the closure's own level.
    ///   - flags: none by default, which enforces `level`.
    ///   - body: the work.
    /// - Throws: the closure's error; ``WorkQueueError/wouldDeadlock(_:)`` when the calling thread runs an item that
    ///   the closure would have to wait for; ``WorkQueueError/deadlock(waits:)`` when the closure would wait for
    ///   threads that wait for the calling thread, over any number of queues and locks. The closure has then not run.
    @discardableResult
    public func sync<Success>(
        level: QoSLevel? = nil, flags: WorkItemFlags = [], _ body: () throws -> Success
    ) throws -> Success {
        let (own, caller) = core.synchronousLevels(level, flags)
        try core.checkMayWait(isBarrier: flags.contains(.barrier))
        if let turn = core.enterIdle(level: own, caller: caller) {
            defer { core.leaveIdle(turn) }
            return try body()
        }
        var outcome: Result<Success, any Error>?
        try core.sync(level: own, caller: caller, isBarrier: flags.contains(.barrier)) {
            outcome = Result { try body() }
        }
        guard let outcome else { preconditionFailure("a synchronous submission returned without having run") }
        return try outcome.get()
    }

    /// Runs an item in the queue's turn and waits for its end, like the other form for a closure. A cancelled item does
    /// not run (rule B12).
    ///
    /// - Throws: ``WorkQueueError/itemAlreadySubmitted``, ``WorkQueueError/wouldDeadlock(_:)``.
    public func sync(_ item: WorkItem) throws(WorkQueueError) {
        try core.checkMayWait(isBarrier: item.flags.contains(.barrier))
        let (own, caller) = core.synchronousLevels(item.level, item.flags)
        try item.submitted(as: nil)
        defer { item.submitterWaits(as: nil) }
        try core.sync(
            level: own, caller: caller, isBarrier: item.flags.contains(.barrier),
            willWait: item.submitterWaits(as:), item.perform)
    }
}

extension QueueCore {
    /// Returns the level of an asynchronous submission to this queue (rule B5).
    func asynchronousLevel(_ level: QoSLevel?, _ flags: WorkItemFlags) -> LevelCode {
        var submission = WorkSubmission(queueLevel: self.level, target: targetKind, itemLevel: level, flags: flags)
        submission.itemLevel = WorkSubmission.captured(assigned: level, flags: flags, creator: QoS.currentLevel)
        if submission.needsSubmitter { submission.submitter = QoS.currentLevel }
        return LevelCode(submission.asynchronousLevel)
    }

    /// Returns the level of a synchronous submission, and the level at which the caller runs anyway (rule B7).
    @inline(__always)
    func synchronousLevels(_ level: QoSLevel?, _ flags: WorkItemFlags) -> (own: LevelCode, caller: LevelCode) {
        let submitter = QoS.waitingLevel
        let caller = LevelCode(submitter)
        if level == nil { return (caller, caller) }
        let submission = WorkSubmission(itemLevel: level, flags: flags, submitter: submitter)
        return (LevelCode(submission.synchronousLevel), caller)
    }
}
