import QoSCore
import Synchronization

/// The timers of a scheduler: requests from any thread, one set and one kernel timer on the loop's thread.
///
/// A request is pushed to a lock-free list. The loop is woken for it only when it has to fire before the moment for which
/// the kernel timer is armed; else the loop finds it when it wakes next, which is early enough. So no thread ever waits
/// for another one's lock to set a timer, and timers whose windows overlap cost one wake-up (rule S6).
///
/// The race between a request and the loop that goes to sleep: the request is published before `armed` is read, the loop
/// publishes `armed` before it looks at the requests for the last time; both sequentially consistent. One of the two
/// sees the other.
// SAFETY: `timers` and `firesUntil` belong to the loop's thread; the rest is atomic.
final class TimerService: @unchecked Sendable {
    /// What a timer does when it fires, on the loop's thread.
    enum Payload {
        /// Gives a job to the executor it was submitted to.
        case job(UnownedJob, executor: JobReceiver)
        /// Adds an entry to its work queue.
        case entry(PoolEntry)
        /// Calls a body; short, since it holds up the loop.
        case body(@Sendable () -> Void)
        /// Does what the ticket still holds.
        case ticket(TimerTicket)
    }

    /// How many timers fire before the loop looks at its other events.
    static let firingsPerTurn = 1_024

    /// How many cancelled tickets the loop leaves in its set until it wakes anyway.
    static let keptCancellations = 64

    private final class Request: Linked {
        let window: TimerWindow
        let payload: Payload
        var next: UInt = 0

        init(window: TimerWindow, payload: Payload) {
            self.window = window
            self.payload = payload
        }
    }

    private let requests = LinkedStack<Request>()
    private let cancelled = LinkedStack<TimerTicket>()
    private let cancellations = Atomic<Int>(0)

    /// For when the kernel timer is armed; `UInt64.max` when it is not. A timer that fires later than this needs no wake-up.
    private let armed = Atomic<UInt64>(.max)

    private var timers = TimerSet<Payload>()

    /// What a turn that reached its limit left due; 0 for nothing.
    private var firesUntil: UInt64 = 0

    /// Whether the loop wakes up for a timer. Any thread.
    var isArmed: Bool { armed.load(ordering: .sequentiallyConsistent) != .max }

    /// The number of timers in the loop's set. The loop's thread.
    var count: Int { timers.count }

    /// Asks for a timer. Any thread; one allocation.
    ///
    /// - Parameter window: monotonic nanoseconds; the timer never fires before, and not after as far as the kernel runs the loop's thread.
    /// - Returns: whether the loop has to be woken.
    func add(_ window: TimerWindow, _ payload: Payload) -> Bool {
        requests.push(Request(window: window, payload: payload))
        return window.end < armed.load(ordering: .sequentiallyConsistent)
    }

    /// Takes a timer back before it fires. Any thread; no allocation.
    ///
    /// - Returns: what the ticket held, `nil` if the timer has fired or was cancelled; and whether the loop has to be woken.
    func cancel(_ ticket: TimerTicket) -> (payload: Payload?, wakesLoop: Bool) {
        guard let payload = ticket.take() else { return (nil, false) }
        cancelled.push(ticket)
        let count = cancellations.wrappingAdd(1, ordering: .relaxed).newValue
        return (payload, count >= Self.keptCancellations)
    }

    /// Fires what is due, if it is time for that, and says for when to arm the kernel timer. The loop's thread.
    ///
    /// Where the loop has woken for something else, nothing fires: each of those looks would wake a worker for few timers (rule S6).
    /// A timer that a firing adds waits for the next turn, and a turn has a limit. So timers that are due again and again leave
    /// the loop its other events.
    ///
    /// - Parameter fire: called once for each timer that is due, in the order of the deadlines.
    /// - Returns: monotonic nanoseconds, in the past where more is to be done; `nil` when there is no timer.
    func advance(now: () -> UInt64, fire: (Payload) -> Void) -> UInt64? {
        takeRequests()
        let time = now()
        if min(armed.load(ordering: .relaxed), timers.nextWake ?? .max) <= time { firesUntil = time }
        var left = Self.firingsPerTurn
        while left > 0, let payload = timers.popExpired(now: firesUntil) {
            fire(payload)
            left -= 1
        }
        let hasMore = timers.nextDeadline.map { $0 <= firesUntil } ?? false
        if !hasMore { firesUntil = 0 }
        for _ in 0..<2 {
            let next = hasMore ? time : timers.nextWake
            armed.store(next ?? .max, ordering: .sequentiallyConsistent)
            if requests.isEmpty { return next }
            takeRequests()
        }
        // Requests come in faster than they are taken: the loop looks at its other events first.
        return time
    }

    /// Takes out every timer that has not fired, with its deadline, at shutdown. The loop's thread.
    func removeAll(_ body: (_ deadline: UInt64, Payload) -> Void) {
        removeRequests(body)
        while let deadline = timers.nextDeadline, let payload = timers.popExpired(now: .max) { body(deadline, payload) }
    }

    /// Takes out the requests that have not reached the set, with their deadlines. Any thread.
    func removeRequests(_ body: (_ deadline: UInt64, Payload) -> Void) {
        requests.takeAll { body($0.window.deadline, $0.payload) }
    }

    /// Moves the requests into the set, and takes out of it what was cancelled.
    private func takeRequests() {
        // In this order: what was requested before a cancellation that is taken here is in the set or among the requests.
        var removed: [TimerTicket] = []
        cancelled.takeAll { removed.append($0) }
        cancellations.wrappingSubtract(removed.count, ordering: .relaxed)
        requests.takeAll { request in
            guard case .ticket(let ticket) = request.payload else {
                timers.insert(request.window, request.payload)
                return
            }
            if !ticket.isTaken { ticket.name = timers.insert(request.window, request.payload) }
        }
        for ticket in removed {
            if let name = ticket.name { _ = timers.cancel(name) }
        }
    }
}

extension TimerService.Payload {
    /// Does what the timer is for. The loop's thread, or one that stands for it.
    func fire() {
        switch self {
        case .job(let job, let executor):
            if ConcurrencyRuntime.isResumption(job) {
                ConcurrencyRuntime.runResumption(job)
            } else {
                executor.enqueue(job)
            }
        case .entry(let entry):
            entry.delayEnded()
        case .body(let body):
            body()
        case .ticket(let ticket):
            ticket.take()?.fire()
        }
    }
}
