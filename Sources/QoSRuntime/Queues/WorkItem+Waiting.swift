import QoSCore
import QoSKernel

// Waiting raises the item, and what stands before it on its serial queue, to the waiter's level until the wait is over
// (rules I1, B13).

extension WorkItem {
    /// Waits, blocking the calling thread, until the item has finished.
    ///
    /// On a worker of a scheduler the thread runs what stands before the item, and the item, where nobody else does. In a task
    /// use ``finished(promotes:)``.
    ///
    /// - Throws: ``WorkQueueError/wouldDeadlock(_:)`` when the calling thread runs the item, or one that it has to wait for;
    ///   ``WorkQueueError/deadlock(waits:)`` when whoever would have to end the wait waits, in the end, for the calling thread.
    public func wait() throws(WorkQueueError) {
        _ = try wait(until: nil)
    }

    /// Waits, blocking the calling thread, until the item has finished or the time is up.
    ///
    /// - Parameter timeout: how long at most; 0 or less only looks.
    /// - Returns: whether the item has finished.
    /// - Throws: ``WorkQueueError/wouldDeadlock(_:)``.
    public func wait(for timeout: Duration) throws(WorkQueueError) -> Bool {
        try wait(until: MonotonicClock.nanoseconds().addingSaturating(timeout.clampedNanoseconds))
    }

    /// Waits, blocking the calling thread, until the item has finished or the deadline has passed.
    ///
    /// - Returns: whether the item has finished; a deadline that has passed only looks.
    /// - Throws: ``WorkQueueError/wouldDeadlock(_:)``.
    public func wait(until deadline: SuspendingClock.Instant) throws(WorkQueueError) -> Bool {
        try wait(for: SuspendingClock.now.duration(to: deadline))
    }

    private func wait(until deadline: UInt64?) throws(WorkQueueError) -> Bool {
        if isFinished { return true }
        let entry = state.withLock { $0.entry }
        if let entry {
            try entry.checkIsNotRunByCaller()
            try entry.queue.checkMayWait(isBarrier: entry.isBarrier)
        }
        let level = LevelCode(QoS.currentLevel)
        let raised = state.withLock { $0.waitBegan(at: level) }
        if let raised { raised.queue.waitBegan(for: raised, at: level) }
        defer {
            let lowered = state.withLock { $0.waitEnded(at: level) }
            if let lowered { lowered.queue.waitEnded(for: lowered, at: level) }
        }
        let thread = ThreadWait()
        guard state.withLock({ $0.parks(thread) }) else { return true }
        guard let deadline else {
            do throws(WorkQueueError) {
                try waitHelping(raised, thread)
            } catch {
                state.withLock { $0.gaveUp(thread) }
                // It may have ended just when the wait was refused.
                if !isFinished { throw error }
            }
            return true
        }
        if thread.parker.park(untilNanoseconds: deadline) { return true }
        state.withLock { $0.gaveUp(thread) }
        return isFinished
    }

    private func waitHelping(_ entry: ItemEntry?, _ thread: ThreadWait) throws(WorkQueueError) {
        guard let entry else {
            thread.parker.park()
            return
        }
        try entry.queue.helping(towards: entry, wait: thread) { isFinished }
    }

    /// Waits until the item has finished, without blocking a thread. When the waiting task is raised meanwhile, the item
    /// follows.
    ///
    /// Pays no attention to the task's cancellation: ``cancel()`` the item.
    ///
    /// - Parameter promotes: `false` for a wait that only watches, and raises nothing.
    public func finished(promotes: Bool = true) async {
        guard promotes else {
            await suspendUntilFinished()
            return
        }
        await withRaiseHandler(for: self) {
            // Not before: a raise between this look and the handler would come to nobody.
            raise(to: LevelCode(QoS.currentLevel))
            await suspendUntilFinished()
        } raised: { item, level in
            item.raise(to: LevelCode(level))
        }
    }

    private func suspendUntilFinished() async {
        await withCheckedContinuation { continuation in
            if !state.withLock({ $0.suspends(continuation) }) { continuation.resume() }
        }
    }

    /// Until it has finished.
    private func raise(to level: LevelCode) {
        let raised = state.withLock { $0.waitBegan(at: level) }
        if let raised { raised.queue.waitBegan(for: raised, at: level) }
    }
}

extension WorkEntry {
    /// - Throws: ``WorkQueueError/wouldDeadlock(_:)`` when the calling thread runs this entry.
    func checkIsNotRunByCaller() throws(WorkQueueError) {
        var entry = WorkEntry.current
        while let current = entry {
            if current === self { throw .wouldDeadlock(queue.label) }
            entry = current.outerEntry
        }
    }
}
