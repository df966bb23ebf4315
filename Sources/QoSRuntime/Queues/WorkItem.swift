public import QoSCore
import QoSKernel

/// A closure with a level and flags of its own, that can be cancelled, waited for, and followed by notifications (rule B4).
///
/// ```swift
/// let item = WorkItem(level: .utility, flags: .enforceQoS) { rebuild() }
/// item.notify(on: main) { show() }
/// try queue.async(item)
/// try item.wait()
/// ```
///
/// It runs once: by one submission, or by ``perform()``.
///
/// Threading: any thread.
public final class WorkItem: Sendable {
    /// The item's own level; with ``WorkItemFlags/assignCurrent`` and none given, that of the code that made it (rule B9).
    public let level: QoSLevel?

    /// The item's flags.
    public let flags: WorkItemFlags

    private let body: @Sendable () -> Void

    /// With ``WorkItemFlags/assignCurrent``: the context of the code that made the item (rules B9, X2).
    let contextAtCreation: CarriedContext?
    let state = Lock(WorkItemState())

    /// Makes an item.
    public init(level: QoSLevel? = nil, flags: WorkItemFlags = [], _ body: @escaping @Sendable () -> Void) {
        self.level = WorkSubmission.captured(assigned: level, flags: flags, creator: QoS.currentLevel)
        self.flags = flags
        self.body = body
        contextAtCreation = flags.contains(.assignCurrent) ? .captured(flags) : nil
    }

    /// Lets the item not begin any more; one that runs goes on, and may look at ``isCancelled`` (rule B12).
    ///
    /// An item that was cancelled before it began does not run its closure when its turn comes; those who wait for it go on then.
    /// A delay ends: the item's turn comes now.
    public func cancel() {
        if let (ticket, entry) = state.withLock({ $0.cancelled() }) { entry.queue.endDelay(ticket) }
    }

    /// The item has been submitted after a delay.
    func isDelayed(by ticket: TimerTicket) {
        if let (ticket, entry) = state.withLock({ $0.isDelayed(by: ticket) }) { entry.queue.endDelay(ticket) }
    }

    /// Whether ``cancel()`` was called.
    public var isCancelled: Bool { state.withLock { $0.isCancelled } }

    /// Whether the item has run, or has been passed over because it was cancelled.
    public var isFinished: Bool { state.withLock { $0.phase == .finished } }

    /// The level that the item runs or waits at, promotions included; `nil` before its submission and after its end.
    public var effectiveLevel: QoSLevel? {
        state.withLock { $0.phase == .finished ? nil : $0.entry }?.effectiveLevel
    }

    /// Runs the item on the calling thread, in no queue; returns at once when it has begun already.
    ///
    /// Code in it runs with the item's level or the thread's, whichever is higher (rule B7).
    public func perform() {
        let submission = WorkSubmission(itemLevel: level, flags: flags, submitter: QoS.currentLevel)
        WorkScope.with(PerformedWork(effectiveLevel: submission.synchronousLevel)) {
            if flags.isDisjoint(with: [.assignCurrent, .detached]) {
                runOnce()
            } else {
                CarriedContext.run(contextAtCreation, runOnce)
            }
        }
    }

    /// The context of a submission by the calling code.
    var contextAtSubmission: CarriedContext? {
        flags.contains(.assignCurrent) ? contextAtCreation : .captured(flags)
    }

    /// Runs the closure unless it has begun or was cancelled, and tells those who wait.
    func runOnce() {
        switch state.withLock({ $0.begun() }) {
        case .nothing: return
        case .run: body()
        case .skip: break
        }
        state.withLock { $0.ended() }.perform()
    }

    /// It is about to be added to a queue; `nil` for a submission whose submitter runs it.
    ///
    /// - Throws: ``WorkQueueError/itemAlreadySubmitted``.
    func submitted(as entry: ItemEntry?) throws(WorkQueueError) {
        let isFirst = state.withLock { $0.submitted(as: entry) }
        guard isFirst else { throw .itemAlreadySubmitted }
    }

    /// Submits a closure to a queue when the item has finished, or at once if it has (rule B4).
    ///
    /// The level is resolved now, as if it were submitted now (rule B5).
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

    private final class PerformedWork: CurrentWork {
        let effectiveLevel: QoSLevel?

        init(effectiveLevel: QoSLevel?) {
            self.effectiveLevel = effectiveLevel
        }
    }
}
