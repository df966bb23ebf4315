public import QoSCore
import QoSKernel

// Submission after a delay: never early, late by at most the tolerance, detached (rules B10, S6).

extension WorkQueue {
    /// Submits a closure after a delay.
    ///
    /// The closure is detached (rule B10): it has neither the submitter's level nor its context, and no task-local values.
    ///
    /// - Parameters:
    ///   - delay: 0 or less submits at once.
    ///   - tolerance: how much later than the delay the submission may be, so that wake-ups fall together; `nil` leaves
    ///     it to the level's class (rule S6).
    ///   - level: the closure's own level.
    ///   - flags: none by default, which inherits.
    ///   - body: the work.
    public func async(
        after delay: Duration, tolerance: Duration? = nil, level: QoSLevel? = nil, flags: WorkItemFlags = [],
        _ body: @escaping @Sendable () -> Void
    ) {
        let entry = ClosureEntry(
            queue: core, level: core.detachedLevel(level, flags), isBarrier: flags.contains(.barrier),
            onShutdown: flags.shutdownBehavior, body: body)
        core.add(entry, after: delay, tolerance: tolerance)
    }

    /// Submits a closure at a moment, or at once if that has passed. Otherwise like the other form.
    public func async(
        at deadline: SuspendingClock.Instant, tolerance: Duration? = nil, level: QoSLevel? = nil,
        flags: WorkItemFlags = [], _ body: @escaping @Sendable () -> Void
    ) {
        async(after: SuspendingClock.now.duration(to: deadline), tolerance: tolerance, level: level, flags: flags, body)
    }

    /// Submits an item after a delay. The item is detached (rule B10): its own level and flags count.
    ///
    /// - Throws: ``WorkQueueError/itemAlreadySubmitted``.
    public func async(after delay: Duration, tolerance: Duration? = nil, _ item: WorkItem) throws(WorkQueueError) {
        let entry = ItemEntry(
            item, queue: core, level: core.detachedLevel(item.level, item.flags),
            isBarrier: item.flags.contains(.barrier), context: item.contextAtCreation)
        try item.submitted(as: entry)
        if let ticket = core.add(entry, after: delay, tolerance: tolerance, asTicket: true) {
            item.isDelayed(by: ticket)
        }
    }
}

extension QueueCore {
    /// Returns the level of work that the runtime submits on its own account (rule B10).
    func detachedLevel(_ level: QoSLevel?, _ flags: WorkItemFlags) -> LevelCode {
        LevelCode(
            WorkSubmission(queueLevel: self.level, target: targetKind, itemLevel: level, flags: flags).detachedLevel)
    }

    /// Adds an entry when the delay is over.
    ///
    /// - Parameter asTicket: whether the caller may want to end the delay.
    /// - Returns: the delay's ticket, if the caller asks for one and there is a delay.
    @discardableResult
    func add(
        _ entry: WorkEntry, after delay: Duration, tolerance: Duration?, asTicket: Bool = false
    ) -> TimerTicket? {
        let nanoseconds = delay.clampedNanoseconds
        guard nanoseconds > 0 else {
            add(entry)
            return nil
        }
        let now = MonotonicClock.nanoseconds()
        let window = TimerWindow(
            deadline: now.addingSaturating(nanoseconds), now: now, tolerance: tolerance?.clampedNanoseconds,
            of: QoSClass(atRank: entry.effective.rank))
        let ticket = asTicket ? TimerTicket(.entry(entry)) : nil
        core.addTimer(window, ticket.map { .ticket($0) } ?? .entry(entry))
        return ticket
    }

    /// Adds a delayed entry now. Does nothing if its delay is over.
    func endDelay(_ ticket: TimerTicket) {
        if case .entry(let entry)? = core.cancelTimer(ticket) { entry.delayEnded() }
    }
}
