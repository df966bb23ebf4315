import QoSCore
import QoSKernel

/// The progress of an item and the waiters for its end, as a value. An event returns the effects to be performed
/// outside of the lock.
struct WorkItemState {
    typealias Body = @Sendable () -> Void

    enum Phase: Equatable {
        case pending
        case running
        case finished
    }

    /// The decision for an item whose turn has come.
    enum Start {
        case run(Body)
        /// The item was cancelled: it ends without having run.
        case skip
        /// The item has begun already.
        case nothing
    }

    private(set) var phase = Phase.pending
    private(set) var isCancelled = false

    /// The timer that adds the entry; `nil` for an item without a delay.
    private var delay: TimerTicket?

    /// The closure, until the item begins or is cancelled before that.
    private var body: Body?

    /// The execution that the item runs as, if its submitter runs it.
    private(set) var performance: WorkItem.Performance?
    private var isSubmitted = false

    /// The item's entry in its queue, once it has been submitted.
    private(set) var entry: ItemEntry?

    /// The levels of the waiters.
    private(set) var waits: [LevelCode] = []

    private var threads: [ThreadWait] = []
    private var tasks: [CheckedContinuation<Void, Never>] = []
    private var notifications: [ClosureEntry] = []

    init(_ body: @escaping Body) {
        self.body = body
    }

    /// - Returns: whether this is the first submission, and the item has not begun.
    mutating func submitted(as entry: ItemEntry?) -> Bool {
        guard !isSubmitted, phase == .pending else { return false }
        isSubmitted = true
        self.entry = entry
        // No other thread knows the entry yet. Later waiters raise it themselves.
        entry?.waits = waits
        return true
    }

    /// The effects of a cancellation, to be performed outside of the lock.
    struct Cancelled {
        /// The closure, to be released there; `nil` when the item has begun.
        let body: Body?
        /// The timer to end, and the entry that it would add.
        let delay: (ticket: TimerTicket, entry: ItemEntry)?
    }

    mutating func cancelled() -> Cancelled {
        isCancelled = true
        return Cancelled(body: body.take(), delay: takeDelay())
    }

    /// Notes the timer that the item waits for.
    ///
    /// - Returns: the delay to end, if the item was cancelled meanwhile.
    mutating func isDelayed(by ticket: TimerTicket) -> (ticket: TimerTicket, entry: ItemEntry)? {
        delay = ticket
        return isCancelled ? takeDelay() : nil
    }

    private mutating func takeDelay() -> (ticket: TimerTicket, entry: ItemEntry)? {
        guard let entry, let ticket = delay.take() else { return nil }
        return (ticket, entry)
    }

    mutating func begun(_ performance: WorkItem.Performance?) -> Start {
        guard phase == .pending else { return .nothing }
        phase = .running
        self.performance = performance
        return body.take().map(Start.run) ?? .skip
    }

    mutating func ended() -> Ending {
        phase = .finished
        performance = nil
        defer { (threads, tasks, notifications) = ([], [], []) }
        return Ending(threads: threads, tasks: tasks, notifications: notifications)
    }

    /// - Returns: whether the item has finished, so that the entry is to be submitted at once.
    mutating func notificationAdded(_ entry: ClosureEntry) -> Bool {
        if phase == .finished { return true }
        notifications.append(entry)
        return false
    }

    /// Notes a waiter.
    ///
    /// - Returns: the entry to raise, if there is one.
    mutating func waitBegan(at level: LevelCode) -> ItemEntry? {
        waits.append(level)
        return entry
    }

    /// Removes a waiter.
    ///
    /// - Returns: the entry to lower, if there is one.
    mutating func waitEnded(at level: LevelCode) -> ItemEntry? {
        if let index = waits.lastIndex(of: level) { waits.remove(at: index) }
        return entry
    }

    /// - Returns: `false` when the item has finished. The thread is then not kept.
    mutating func parks(_ thread: ThreadWait) -> Bool {
        guard phase != .finished else { return false }
        threads.append(thread)
        return true
    }

    mutating func gaveUp(_ thread: ThreadWait) {
        threads.removeAll { $0 === thread }
    }

    /// - Returns: `false` when the item has finished. The continuation is then not kept.
    mutating func suspends(_ task: CheckedContinuation<Void, Never>) -> Bool {
        guard phase != .finished else { return false }
        tasks.append(task)
        return true
    }

    /// The waiters that go on at the end of the item.
    struct Ending {
        let threads: [ThreadWait]
        let tasks: [CheckedContinuation<Void, Never>]
        let notifications: [ClosureEntry]

        func perform() {
            for entry in notifications { entry.queue.add(entry) }
            for task in tasks { task.resume() }
            for thread in threads { thread.parker.unpark() }
        }
    }
}
