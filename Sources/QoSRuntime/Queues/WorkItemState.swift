import QoSCore
import QoSKernel

/// The progress of an item and the waiters for its end, as a value. An event returns the effects to be performed
/// outside of the lock.
struct WorkItemState {
    typealias Body = @Sendable () -> Void

    private enum Phase {
        /// The item has not begun. It has no closure any more if it was cancelled.
        case pending(Body?)
        /// The item runs as this execution, if no entry runs it.
        case running(WorkItem.Performance?)
        case finished
    }

    private enum Submission {
        case none
        /// The submitter runs the item. While it waits for its turn, it has this entry.
        case bySubmitter(WorkEntry?)
        /// The item has an entry in its queue.
        case queued(ItemEntry)
    }

    /// The decision for an item whose turn has come.
    enum Start {
        case run(Body)
        /// The item was cancelled: it ends without having run.
        case skip
        /// The item has begun already.
        case nothing
    }

    private var phase: Phase
    private var submission = Submission.none
    private(set) var isCancelled = false

    /// The timer that adds the entry; `nil` for an item without a delay.
    private var delay: TimerTicket?

    /// The levels of the waiters.
    private(set) var waits: [LevelCode] = []

    private var threads: [ThreadWait] = []
    private var tasks: [CheckedContinuation<Void, Never>] = []
    private var notifications: [ClosureEntry] = []

    init(_ body: @escaping Body) {
        phase = .pending(body)
    }

    var isFinished: Bool { if case .finished = phase { true } else { false } }

    /// The execution that the item runs as, if no entry runs it.
    var performance: WorkItem.Performance? { if case .running(let performance) = phase { performance } else { nil } }

    /// The entry whose turn runs the item, once it has been submitted.
    var entry: WorkEntry? {
        switch submission {
        case .none: nil
        case .bySubmitter(let entry): entry
        case .queued(let entry): entry
        }
    }

    /// The level that the waiters demand of the execution; none without one.
    var demandOfPerformance: LevelCode { performance == nil ? .none : waits.max() ?? .none }

    /// - Returns: whether this is the first submission, and the item has not begun.
    mutating func submitted(as entry: ItemEntry?) -> Bool {
        guard case .none = submission, case .pending = phase else { return false }
        submission = entry.map(Submission.queued) ?? .bySubmitter(nil)
        // No other thread knows the entry yet. Later waiters raise it themselves.
        entry?.waits = waits
        return true
    }

    /// Notes that the submitter waits for its turn.
    ///
    /// - Parameter entry: the submitter's entry; `nil` when the wait is over.
    mutating func submitterWaits(as entry: WorkEntry?) {
        submission = .bySubmitter(entry)
        entry?.waits = waits
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
        guard case .pending(let body) = phase else { return Cancelled(body: nil, delay: takeDelay()) }
        phase = .pending(nil)
        return Cancelled(body: body, delay: takeDelay())
    }

    /// Notes the timer that the item waits for.
    ///
    /// - Returns: the delay to end, if the item was cancelled meanwhile.
    mutating func isDelayed(by ticket: TimerTicket) -> (ticket: TimerTicket, entry: ItemEntry)? {
        delay = ticket
        return isCancelled ? takeDelay() : nil
    }

    private mutating func takeDelay() -> (ticket: TimerTicket, entry: ItemEntry)? {
        guard case .queued(let entry) = submission, let ticket = delay.take() else { return nil }
        return (ticket, entry)
    }

    mutating func begun(_ performance: WorkItem.Performance?) -> Start {
        guard case .pending(let body) = phase else { return .nothing }
        phase = .running(performance)
        return body.map(Start.run) ?? .skip
    }

    mutating func ended() -> Ending {
        phase = .finished
        defer { (threads, tasks, notifications) = ([], [], []) }
        return Ending(threads: threads, tasks: tasks, notifications: notifications)
    }

    /// - Returns: whether the item has finished, so that the entry is to be submitted at once.
    mutating func notificationAdded(_ entry: ClosureEntry) -> Bool {
        if isFinished { return true }
        notifications.append(entry)
        return false
    }

    /// The parts of the program that the end of the item depends on.
    struct Runners {
        let entry: WorkEntry?
        let performance: WorkItem.Performance?
    }

    var runners: Runners { Runners(entry: entry, performance: performance) }

    /// Notes a waiter.
    ///
    /// - Returns: the runners to raise.
    mutating func waitBegan(at level: LevelCode) -> Runners {
        waits.append(level)
        return runners
    }

    /// Removes a waiter.
    ///
    /// - Returns: the runners to lower.
    mutating func waitEnded(at level: LevelCode) -> Runners {
        if let index = waits.lastIndex(of: level) { waits.remove(at: index) }
        return runners
    }

    /// - Returns: `false` when the item has finished. The thread is then not kept.
    mutating func parks(_ thread: ThreadWait) -> Bool {
        guard !isFinished else { return false }
        threads.append(thread)
        return true
    }

    mutating func gaveUp(_ thread: ThreadWait) {
        threads.removeAll { $0 === thread }
    }

    /// - Returns: `false` when the item has finished. The continuation is then not kept.
    mutating func suspends(_ task: CheckedContinuation<Void, Never>) -> Bool {
        guard !isFinished else { return false }
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
