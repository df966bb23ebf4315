import QoSCore
import QoSKernel
import Synchronization

/// The timers of a scheduler. Any thread sends requests; the loop's thread has one set of timers and one kernel timer.
///
/// A request is pushed to a lock-free list. If the timer must fire before the time for which the kernel timer is armed,
/// the requesting thread wakes the loop. Otherwise the loop finds the request when it wakes next, which is early
/// enough. So a thread that sets a timer never waits for another thread's lock. Timers whose windows overlap cost one
/// wake-up (rule S6).
///
/// Most timers count the time in which the machine is suspended, as `ContinuousClock` does; the others follow
/// `SuspendingClock`. Each kind has a set of its own, in the nanoseconds of its clock. The kernel timer does not stand
/// still either (`Docs/Inside/Decisions/0020-suspended-machines.md`).
///
/// A request may race with the loop that goes to sleep. The requesting thread publishes its request before it reads
/// `armed`. The loop publishes `armed` before it looks at the requests for the last time. Both are sequentially
/// consistent, so one of the two sees the other.
// SAFETY: only the loop's thread uses the sets and the state of a turn; the rest is atomic.
final class TimerService: @unchecked Sendable {
    /// The action of a timer when it fires, on the loop's thread.
    enum Payload {
        /// Gives a job to the executor to which it was submitted.
        case job(UnownedJob, executor: JobReceiver)
        /// Resumes a sleeping task by its helper. The task is retained.
        case sleep(UnownedJob, of: TaskAddress, executor: JobReceiver)
        /// Adds an entry to its work queue.
        case entry(PoolEntry)
        /// Calls a body. The body must be short, because the loop waits for it.
        case body(@Sendable () -> Void)
        /// Does what the ticket still holds.
        case ticket(TimerTicket)
    }

    /// The number of timers that fire before the loop looks at its other events.
    static let firingsPerTurn = 1_024

    /// The number of cancelled tickets that the loop leaves in its set until it wakes anyway.
    static let keptCancellations = 64

    /// The number of requests that wait for the loop before it is woken for them. Those of cancelled sleeps would wait as
    /// long as all others.
    static let keptRequests = 1_024

    private final class Request: Linked {
        let window: TimerWindow
        let payload: Payload
        /// The time of suspensions at the request, for a timer that counts it; nanoseconds.
        let suspended: UInt64?
        var next: UInt = 0

        init(window: TimerWindow, payload: Payload, suspended: UInt64?) {
            self.window = window
            self.payload = payload
            self.suspended = suspended
        }

        var timer: Timer { Timer(payload: payload, qosClass: window.qosClass) }

        /// The window on the continuous clock; `nil` for a timer of the other clock.
        var continuousWindow: TimerWindow? {
            suspended.map { suspended in
                TimerWindow(
                    deadline: window.deadline.addingSaturating(suspended), tolerance: window.tolerance,
                    isPrompt: window.isPrompt, for: window.qosClass)
            }
        }
    }

    /// A timer in a set.
    struct Timer {
        let payload: Payload
        /// The class of the work that waits; `nil` for the runtime's own timers.
        let qosClass: QoSClass?
    }

    private let tally: TimerTally
    private let requests = LinkedStack<Request>()
    private let cancelled = LinkedStack<TimerTicket>()
    private let cancellations = Atomic<Int>(0)
    private let waitingRequests = Atomic<Int>(0)

    /// The size of the sets at the next search for cancelled sleeps.
    private var sweep = SleepSweep()

    /// The time for which the kernel timer is armed; `UInt64.max` when it is not. A timer that fires later needs no
    /// wake-up.
    private let armed = Atomic<UInt64>(.max)

    /// The timers that stand still while the machine is suspended. Monotonic nanoseconds.
    private var timers = TimerSet<Timer>()

    /// The timers that do not. Nanoseconds of the continuous clock.
    private var continuous = TimerSet<Timer>()

    /// The time up to which timers are still due after a turn that reached its limit; 0 for none.
    private var firesUntil: UInt64 = 0

    /// Whether the loop has woken for a timer and has fired none since then.
    private var isWakeUp = false

    /// - Parameter tally: counts the firings and the wake-ups.
    init(tally: TimerTally = TimerTally()) {
        self.tally = tally
    }

    /// Whether the loop wakes up for a timer. Any thread.
    var isArmed: Bool { armed.load(ordering: .sequentiallyConsistent) != .max }

    /// The number of timers in the loop's set. The loop's thread.
    var count: Int { timers.count + continuous.count }

    /// Adds a request for a timer. Any thread; one allocation.
    ///
    /// - Parameter window: monotonic nanoseconds. The timer never fires before the window. It fires after the window
    ///   only if the kernel runs the loop's thread too late.
    /// - Parameter suspended: the present ``SuspendedTime`` for a timer that counts suspensions; `nil` for one that
    ///   stands still meanwhile, as all tickets do.
    /// - Returns: whether the caller has to wake the loop.
    func add(_ window: TimerWindow, _ payload: Payload, suspended: UInt64? = nil) -> Bool {
        requests.push(Request(window: window, payload: payload, suspended: suspended))
        let waiting = waitingRequests.wrappingAdd(1, ordering: .relaxed).newValue
        return window.end < armed.load(ordering: .sequentiallyConsistent) || waiting == Self.keptRequests
    }

    /// Cancels a timer that has not fired. Any thread; no allocation.
    ///
    /// - Returns: the payload of the ticket, `nil` if the timer has fired or was cancelled; and whether the caller has
    ///   to wake the loop.
    func cancel(_ ticket: TimerTicket) -> (payload: Payload?, wakesLoop: Bool) {
        guard let payload = ticket.take() else { return (nil, false) }
        cancelled.push(ticket)
        let count = cancellations.wrappingAdd(1, ordering: .relaxed).newValue
        return (payload, count >= Self.keptCancellations)
    }

    /// Fires the due timers, if the loop woke for a timer, and returns the time for the kernel timer. The loop's
    /// thread.
    ///
    /// If the loop has woken for something else, nothing fires: each such turn would wake a worker for few timers (rule
    /// S6). A timer that is added while others fire waits for the next turn, and a turn has a limit. So timers that
    /// keep falling due do not keep the loop from its other events.
    ///
    /// - Parameters:
    ///   - now: the present, in monotonic nanoseconds.
    ///   - suspended: the present ``SuspendedTime``.
    ///   - fire: called once for each due timer, in the order of the deadlines.
    /// - Returns: monotonic nanoseconds, in the past if timers are left to fire; `nil` when there is no timer.
    func advance(now: () -> UInt64, suspended: UInt64 = 0, fire: (Payload) -> Void) -> UInt64? {
        takeRequests()
        let time = now()
        if min(armed.load(ordering: .relaxed), nextWake(suspended) ?? .max) <= time {
            isWakeUp = isWakeUp || firesUntil == 0
            firesUntil = time
        }
        var left = Self.firingsPerTurn
        while left > 0, let timer = popExpired(now: firesUntil, suspended) {
            // The timer that is due first is the reason of the wake-up.
            tally.fired(for: timer.qosClass, isWakeUp: isWakeUp)
            isWakeUp = false
            fire(timer.payload)
            left -= 1
        }
        let hasMore = nextDeadline(suspended).map { $0 <= firesUntil } ?? false
        if !hasMore { firesUntil = 0 }
        for _ in 0..<2 {
            let next = hasMore ? time : nextWake(suspended)
            armed.store(next ?? .max, ordering: .sequentiallyConsistent)
            if requests.isEmpty { return next }
            takeRequests()
        }
        // Requests come in faster than the loop takes them, so the loop looks at its other events first.
        return time
    }

    /// The earliest of the moments at which each set must be looked at, in monotonic nanoseconds.
    private func nextWake(_ suspended: UInt64) -> UInt64? {
        earlier(timers.nextWake, continuous.nextWake, suspended)
    }

    private func nextDeadline(_ suspended: UInt64) -> UInt64? {
        earlier(timers.nextDeadline, continuous.nextDeadline, suspended)
    }

    private func earlier(_ own: UInt64?, _ other: UInt64?, _ suspended: UInt64) -> UInt64? {
        guard let other = other.map({ $0 == .max ? .max : $0 - min($0, suspended) }) else { return own }
        return min(own ?? .max, other)
    }

    /// Takes the timer that is due first, of both sets.
    private func popExpired(now: UInt64, _ suspended: UInt64) -> Timer? {
        let other = earlier(nil, continuous.nextDeadline, suspended)
        if let other, other <= now, other < timers.nextDeadline ?? .max {
            return continuous.popExpired(now: now.addingSaturating(suspended))
        }
        return timers.popExpired(now: now)
    }

    /// Takes out every timer that has not fired with its deadline, at shutdown. The loop's thread.
    func removeAll(suspended: UInt64 = 0, _ body: (_ deadline: UInt64, Payload) -> Void) {
        removeRequests(body)
        while let deadline = nextDeadline(suspended), let timer = popExpired(now: .max, suspended) {
            body(deadline, timer.payload)
        }
    }

    /// Takes out the requests that have not reached the set, with their deadlines. Any thread.
    func removeRequests(_ body: (_ deadline: UInt64, Payload) -> Void) {
        requests.takeAll { body($0.window.deadline, $0.payload) }
    }

    /// Moves the requests into the set, and takes the cancelled timers out of it.
    private func takeRequests() {
        // Cancellations first: a request made before a cancellation taken here is in the set or among the requests.
        var removed: [TimerTicket] = []
        cancelled.takeAll { removed.append($0) }
        cancellations.wrappingSubtract(removed.count, ordering: .relaxed)
        waitingRequests.store(0, ordering: .relaxed)
        requests.takeAll { request in
            guard case .ticket(let ticket) = request.payload else {
                if let window = request.continuousWindow {
                    continuous.insert(window, request.timer)
                } else {
                    timers.insert(request.window, request.timer)
                }
                return
            }
            if !ticket.isTaken { ticket.name = timers.insert(request.window, request.timer) }
        }
        for ticket in removed {
            if let name = ticket.name { _ = timers.cancel(name) }
        }
        if sweep.isDue(at: count) {
            let ended =
                timers.cancelAll(where: \.payload.isCancelledSleep)
                + continuous.cancelAll(where: \.payload.isCancelledSleep)
            sweep.done(left: count)
            for timer in ended { timer.payload.fire() }
        }
    }
}

/// Decides when to search timers for cancelled sleeps.
///
/// The concurrency library leaves the helper of a cancelled sleep with the executor until the deadline. So does the
/// memory of both, some 230 bytes and the timer's. A search takes them out. It costs time in proportion to the timers, so
/// one is due whenever they have doubled: each sleep pays for a constant part, and as many helpers are left as there are
/// timers, or ``fewest``.
struct SleepSweep {
    /// The number of timers that are not searched.
    static let fewest = 256

    private var limit = fewest

    /// Whether a search is due with a number of timers.
    func isDue(at count: Int) -> Bool { count >= limit }

    /// Notes a search.
    ///
    /// - Parameter left: the number of timers after it.
    mutating func done(left: Int) {
        limit = max(Self.fewest, 2 * left)
    }
}

extension TimerService.Payload {
    /// Makes the payload of a job that comes later: of a sleep, if the calling task is about to sleep by it.
    static func delayed(_ job: UnownedJob, executor: JobReceiver) -> TimerService.Payload {
        guard ConcurrencyRuntime.isResumption(job), let task = ConcurrencyRuntime.currentTask,
            ConcurrencyRuntime.retain(task)
        else { return .job(job, executor: executor) }
        JobNode(address: task.rawValue).noteSleep(by: JobNode(job))
        return .sleep(job, of: task, executor: executor)
    }

    /// Whether it resumes a task whose sleep was cancelled, and which has gone on since. Any thread.
    var isCancelledSleep: Bool {
        guard case .sleep(let job, let task, _) = self else { return false }
        return !JobNode(address: task.rawValue).sleeps(by: JobNode(job))
    }

    /// Performs the timer's action. The loop's thread, or one that stands in for it.
    func fire() {
        switch self {
        case .job(let job, let executor):
            ConcurrencyRuntime.delayEnded(job) { executor.enqueue($0) }
        case .sleep(let job, let task, _):
            ConcurrencyRuntime.runResumption(job)
            ConcurrencyRuntime.release(task)
        case .entry(let entry):
            entry.delayEnded()
        case .body(let body):
            body()
        case .ticket(let ticket):
            ticket.take()?.fire()
        }
    }
}
