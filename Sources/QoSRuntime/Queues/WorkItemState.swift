import QoSCore
import QoSKernel

/// Where an item is in its life, and who waits for its end, as a value: an event answers with what is to be done outside of the
/// lock.
struct WorkItemState {
    typealias Body = @Sendable () -> Void

    enum Phase: Equatable {
        case pending
        case running
        case finished
    }

    /// What to do with an item whose turn has come.
    enum Start {
        case run(Body)
        /// It was cancelled: it ends without having run.
        case skip
        /// It has begun already.
        case nothing
    }

    private(set) var phase = Phase.pending
    private(set) var isCancelled = false

    /// The timer that adds the entry; `nil` for an item that is not delayed.
    private var delay: TimerTicket?

    /// Until it begins, or is cancelled before that.
    private var body: Body?

    /// What it runs as, where its submitter runs it.
    private(set) var performance: WorkItem.Performance?
    private var isSubmitted = false

    /// What stands for the item in its queue, once it has been submitted.
    private(set) var entry: ItemEntry?

    /// The levels of those who wait.
    private(set) var waits: [LevelCode] = []

    private var threads: [ThreadWait] = []
    private var tasks: [CheckedContinuation<Void, Never>] = []
    private var notifications: [ClosureEntry] = []

    init(_ body: @escaping Body) {
        self.body = body
    }

    /// - Returns: whether it is the first submission, and the item has not begun.
    mutating func submitted(as entry: ItemEntry?) -> Bool {
        guard !isSubmitted, phase == .pending else { return false }
        isSubmitted = true
        self.entry = entry
        // Nobody else knows the entry yet; those who wait from now on raise it themselves.
        entry?.waits = waits
        return true
    }

    /// What is to be done outside of the lock when the item has been cancelled.
    struct Cancelled {
        /// The closure, to be released there; `nil` when the item has begun.
        let body: Body?
        /// The timer to be ended, and the entry that it would add.
        let delay: (ticket: TimerTicket, entry: ItemEntry)?
    }

    mutating func cancelled() -> Cancelled {
        isCancelled = true
        return Cancelled(body: body.take(), delay: takeDelay())
    }

    /// The item waits for a timer.
    ///
    /// - Returns: the delay to be ended, where the item was cancelled meanwhile.
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

    /// - Returns: whether the item has finished, so that it is to be submitted at once.
    mutating func notificationAdded(_ entry: ClosureEntry) -> Bool {
        if phase == .finished { return true }
        notifications.append(entry)
        return false
    }

    /// Somebody begins to wait.
    ///
    /// - Returns: the entry to be raised, if there is one.
    mutating func waitBegan(at level: LevelCode) -> ItemEntry? {
        waits.append(level)
        return entry
    }

    /// Somebody waits no longer.
    ///
    /// - Returns: the entry to be lowered, if there is one.
    mutating func waitEnded(at level: LevelCode) -> ItemEntry? {
        if let index = waits.lastIndex(of: level) { waits.remove(at: index) }
        return entry
    }

    /// - Returns: `false` when the item has finished; the thread is then not kept.
    mutating func parks(_ thread: ThreadWait) -> Bool {
        guard phase != .finished else { return false }
        threads.append(thread)
        return true
    }

    mutating func gaveUp(_ thread: ThreadWait) {
        threads.removeAll { $0 === thread }
    }

    /// - Returns: `false` when the item has finished; the continuation is then not kept.
    mutating func suspends(_ task: CheckedContinuation<Void, Never>) -> Bool {
        guard phase != .finished else { return false }
        tasks.append(task)
        return true
    }

    /// Who is to go on at the end of the item.
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
