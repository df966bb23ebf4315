public import QoSCore
import QoSKernel

/// A closure with its own level and flags. It can be cancelled, waited for, and followed by notifications (rule B4).
///
/// ```swift
/// let item = WorkItem(level: .utility, flags: .enforceQoS) { rebuild() }
/// item.notify(on: main) { show() }
/// try queue.async(item)
/// try item.blockUntilFinished()
/// ```
///
/// It runs once: by one submission, or by ``perform()``. Its closure gets the service context and the activity of the
/// submission, or with `WorkItemFlags.assignCurrent` those of its creation (rules B9, X2). It gets no other task-local
/// value: read one before, and bind it in the closure.
///
/// Threading: any thread.
public final class WorkItem: Sendable {
    /// The item's own level. With `WorkItemFlags.assignCurrent` and no given level: that of the code that made the item
    /// (rule B9).
    public let level: QoSLevel?

    /// The item's flags.
    public let flags: WorkItemFlags

    /// With `WorkItemFlags.assignCurrent`: the context of the code that made the item (rules B9, X2).
    let contextAtCreation: CarriedContext?
    let state: Lock<WorkItemState>

    /// Makes an item.
    public init(level: QoSLevel? = nil, flags: WorkItemFlags = [], _ body: @escaping @Sendable () -> Void) {
        self.level = WorkSubmission.captured(assigned: level, flags: flags, creator: QoS.currentLevel)
        self.flags = flags
        state = Lock(WorkItemState(body))
        contextAtCreation = flags.contains(.assignCurrent) ? .captured(flags) : nil
    }

    /// Cancels the item if it has not begun. A running closure continues, and may read ``isCancelled`` (rule B12).
    ///
    /// When the turn of a cancelled item comes, its closure does not run, and its waiters resume. The closure and its
    /// captures are released at once. A delay ends: the item's turn comes now.
    public func cancel() {
        let cancelled = state.withLock { $0.cancelled() }
        if let delay = cancelled.delay { delay.entry.queue.endDelay(delay.ticket) }
    }

    /// Notes that the item has been submitted after a delay.
    func isDelayed(by ticket: TimerTicket) {
        if let delay = state.withLock({ $0.isDelayed(by: ticket) }) { delay.entry.queue.endDelay(delay.ticket) }
    }

    /// Whether ``cancel()`` was called.
    public var isCancelled: Bool { state.withLock { $0.isCancelled } }

    /// Whether the item has run, or was passed over because it was cancelled.
    public var isFinished: Bool { state.withLock { $0.isFinished } }

    /// The level at which the item runs or waits, promotions included; `nil` before its submission and after its end.
    ///
    /// For an item that waits for its turn, the level includes the entries behind the item, which need its end (rule
    /// I1).
    ///
    /// - Complexity: O(1) for a running item; O(items behind it) for one that waits for its turn.
    public var effectiveLevel: QoSLevel? {
        let (entry, performance) = state.withLock { $0.isFinished ? (nil, nil) : ($0.entry, $0.performance) }
        return QoSLevel.higher(entry?.expectedLevel, performance?.effectiveLevel)
    }

    /// Runs the item on the calling thread, in no queue. Returns at once if the item has begun already.
    ///
    /// Its code runs with the item's level or the thread's, whichever is higher (rule B7).
    public func perform() {
        let submission = WorkSubmission(itemLevel: level, flags: flags, submitter: QoS.currentLevel)
        let performance = Performance(level: submission.synchronousLevel, within: WorkEntry.current)
        WorkScope.with(performance) {
            if flags.isDisjoint(with: [.assignCurrent, .detached]) {
                runOnce(performance)
            } else {
                CarriedContext.run(contextAtCreation) { runOnce(performance) }
            }
        }
    }

    /// The context of a submission by the calling code.
    var contextAtSubmission: CarriedContext? {
        flags.contains(.assignCurrent) ? contextAtCreation : .captured(flags)
    }

    /// Runs the closure unless it has begun or was cancelled, and releases the waiters.
    ///
    /// - Parameter performance: the execution, for an item without an entry of its own.
    func runOnce(_ performance: Performance? = nil) {
        switch state.withLock({ $0.begun(performance) }) {
        case .nothing: return
        case .run(let body):
            // For waiters from before.
            if let performance { demandChanged(of: performance).perform() }
            body()
        case .skip: break
        }
        state.withLock { $0.ended() }.perform()
        if let performance { ended(performance) }
    }

    /// Notes that the item is about to be added to a queue.
    ///
    /// - Parameter entry: `nil` for a submission whose submitter runs the item.
    /// - Throws: ``WorkQueueError/itemAlreadySubmitted``.
    func submitted(as entry: ItemEntry?) throws(WorkQueueError) {
        let isFirst = state.withLock { $0.submitted(as: entry) }
        guard isFirst else { throw .itemAlreadySubmitted }
    }

    /// Notes that the submitter, who runs the item, waits for its turn.
    ///
    /// - Parameter entry: the submitter's entry; `nil` when the wait is over.
    func submitterWaits(as entry: WorkEntry?) {
        state.withLock { $0.submitterWaits(as: entry) }
    }

    /// Submits a closure to a queue when the item has finished, or at once if it has (rule B4).
    ///
    /// The level is resolved now, like that of a submission at this moment (rule B5).
    public func notify(
        on queue: WorkQueue, level: QoSLevel? = nil, flags: WorkItemFlags = [],
        _ body: @escaping @Sendable () -> Void
    ) {
        let entry = ClosureEntry(
            queue: queue.core, level: queue.core.asynchronousLevel(level, flags), isBarrier: flags.contains(.barrier),
            context: .captured(flags), onShutdown: flags.shutdownBehavior, body: body)
        let isFinished = state.withLock { $0.notificationAdded(entry) }
        if isFinished { queue.core.add(entry) }
    }
}
