import CQoSShims
import QoSCore
import QoSKernel

// A wait raises the item, and the entries before it on its serial queue, to the waiter's level until the wait is over
// (rules I1, B13).

extension WorkItem {
    /// Blocks the calling thread until the item has finished.
    ///
    /// A worker of a scheduler helps while it waits: it runs the entries before the item, and the item, if no other
    /// thread does. In a task use ``waitUntilFinished(promotes:)``.
    ///
    /// - Throws: ``WorkQueueError/wouldDeadlock(_:)`` when the calling thread runs the item, or an item that this one
    ///   has to wait for; ``WorkQueueError/deadlock(waits:)`` when the thread that would end the wait itself waits for
    ///   the calling thread, directly or through others.
    @available(*, noasync, message: "use waitUntilFinished() in a task")
    public func blockUntilFinished() throws(WorkQueueError) {
        _ = try block(until: nil)
    }

    /// Blocks the calling thread until the item has finished or the time is up.
    ///
    /// - Parameter timeout: the longest time to wait; 0 or less only looks.
    /// - Returns: whether the item has finished.
    /// - Throws: ``WorkQueueError/wouldDeadlock(_:)``.
    @available(*, noasync, message: "use waitUntilFinished() in a task")
    public func blockUntilFinished(within timeout: Duration) throws(WorkQueueError) -> Bool {
        try block(until: MonotonicClock.nanoseconds().addingSaturating(timeout.clampedNanoseconds))
    }

    /// Blocks the calling thread until the item has finished or the deadline has passed.
    ///
    /// - Returns: whether the item has finished. With a deadline in the past the call only looks.
    /// - Throws: ``WorkQueueError/wouldDeadlock(_:)``.
    @available(*, noasync, message: "use waitUntilFinished() in a task")
    public func blockUntilFinished(deadline: SuspendingClock.Instant) throws(WorkQueueError) -> Bool {
        try blockUntilFinished(within: SuspendingClock.now.duration(to: deadline))
    }

    private func block(until deadline: UInt64?) throws(WorkQueueError) -> Bool {
        if isFinished { return true }
        let runners = state.withLock(\.runners)
        try Self.checkMayWait(for: runners)
        let level = LevelCode(QoS.waitingLevel)
        let waiter = LockWaiter(party: .callingThread, name: nil, level: level.level, lockName: awaitedName)
        waiter.perform(waitBegan(at: level), holder: runners.performance.map { .thread($0.thread) })
        defer { waitEnded(at: level) }
        let thread = ThreadWait()
        guard state.withLock({ $0.parks(thread) }) else { return true }
        defer { state.withLock { $0.gaveUp(thread) } }
        do throws(WorkQueueError) {
            if let deadline {
                try waiter.sleep(thread, awaiting: self, until: deadline, refusal: WorkQueueError.deadlock(waits:))
            } else {
                try wait(thread, waiter)
            }
        } catch {
            // The item may have ended just when the wait was refused.
            if !isFinished { throw error }
        }
        return isFinished
    }

    /// - Throws: ``WorkQueueError/wouldDeadlock(_:)`` when the calling thread itself would have to end the wait.
    private static func checkMayWait(for runners: WorkItemState.Runners) throws(WorkQueueError) {
        if let performance = runners.performance {
            guard performance.thread != cqos_own_id() else {
                throw .wouldDeadlock(performance.entry?.queue.label ?? "perform()")
            }
        } else if let entry = runners.entry {
            try entry.checkIsNotRunByCaller()
            try entry.queue.checkMayWait(isBarrier: entry.isBarrier)
        }
    }

    /// Waits for the item's turn in its queue, or else for the thread that performs the item.
    private func wait(_ thread: ThreadWait, _ waiter: LockWaiter) throws(WorkQueueError) {
        let runners = state.withLock(\.runners)
        if let entry = runners.entry, runners.performance == nil {
            try entry.queue.helping(towards: entry, wait: thread, at: LevelCode(waiter.level)) { isFinished }
            return
        }
        if Worker.current != nil {
            waiter.report(
                .blockedPoolThread, holder: runners.performance.map { .thread($0.thread) },
                "a thread of a pool sleeps until an item has run: await waitUntilFinished() instead")
        }
        while !isFinished {
            try waiter.sleep(thread, awaiting: self, refusal: WorkQueueError.deadlock(waits:))
        }
    }

    /// Suspends the task until the item has finished. Blocks no thread. If the waiting task is raised meanwhile, the
    /// item is raised too.
    ///
    /// Ignores the task's cancellation: ``cancel()`` the item.
    ///
    /// - Parameter promotes: `false` for a wait that only watches, and raises nothing.
    public func waitUntilFinished(promotes: Bool = true) async {
        guard promotes else {
            await suspendUntilFinished()
            return
        }
        await withRaiseHandler(for: self) {
            // Not earlier: a raise between this look and the handler would be lost.
            raised(to: LevelCode(QoS.waitingLevel))
            await suspendUntilFinished()
        } raised: { item, level in
            item.raised(to: LevelCode(level))
        }
    }

    private func suspendUntilFinished() async {
        await withCheckedContinuation { continuation in
            if !state.withLock({ $0.suspends(continuation) }) { continuation.resume() }
        }
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
