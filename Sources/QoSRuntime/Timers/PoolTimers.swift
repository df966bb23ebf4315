import QoSCore

/// The timers that the tasks of one pool have set. Either an idle worker of the pool or the loop wakes up for them.
///
/// A pure value: the pool drives it under a lock (`Docs/Inside/Protocols/pool-timers.md`).
struct PoolTimers<Payload> {
    private var queue = TimerQueue<Payload>()
    private var sweep = SleepSweep()

    /// The worker that sleeps until ``kept`` and wakes up for the timers by itself. It is the worker that parked last.
    private(set) var keeper: Int?

    /// The time until which the keeper sleeps. `UInt64.max` without a keeper, or if the keeper sleeps until it is
    /// woken.
    private(set) var kept = UInt64.max

    /// The time for which the loop's alarm is set; `UInt64.max` if it is not set.
    private(set) var armed = UInt64.max

    /// The time at which a worker or the loop must wake up next; `UInt64.max` without timers. All timers are prompt.
    var next: UInt64 { queue.nextPromptWake ?? .max }

    /// Adds a timer for a task of the pool that is about to be suspended. The task's worker looks at the timers before
    /// it does anything else.
    ///
    /// - Returns: the payloads of cancelled sleeps, which no longer count (``SleepSweep``).
    @discardableResult
    mutating func add(_ window: TimerWindow, _ payload: Payload, isObsolete: (Payload) -> Bool = { _ in false })
        -> [Payload]
    {
        queue.insert(deadline: window.deadline, tolerance: window.tolerance, payload)
        guard sweep.isDue(at: queue.count) else { return [] }
        let obsolete = queue.cancelAll(where: isObsolete)
        sweep.done(left: queue.count)
        return obsolete
    }

    /// Notes that a worker of the pool is about to run a job, or no longer waits. The loop then wakes up for the timers
    /// that no worker would wake up for.
    mutating func workerGoesOn(_ worker: Int) {
        if keeper == worker { (keeper, kept) = (nil, .max) }
        settle()
    }

    /// Notes that a worker parks, as the last one so far. From now on it wakes up for the timers.
    ///
    /// The worker takes over from another keeper, because the pool wakes the worker that parked last for a timer's
    /// task.
    ///
    /// - Returns: the time until which the worker sleeps; `UInt64.max` if it sleeps until it is woken.
    mutating func workerParks(_ worker: Int) -> UInt64 {
        keeper = worker
        kept = next
        settle()
        return kept
    }

    /// The next step of a worker that has slept until its time.
    enum Awakening {
        /// The worker no longer serves the timers. It sleeps until it is woken.
        case sleepsOn
        /// The worker gives these payloads to their executors, and sleeps on.
        case fires([Payload], then: UInt64)
    }

    /// Notes that a parked worker has slept until its time, and returns its next step.
    mutating func workerWoke(_ worker: Int, now: UInt64) -> Awakening {
        guard keeper == worker else { return .sleepsOn }
        let due = kept <= now ? takeDue(now) : []
        kept = next
        settle()
        return .fires(due, then: kept)
    }

    /// Takes the due timers for the loop, if the loop is the one that wakes up for them.
    mutating func loopLooks(now: UInt64) -> [Payload] {
        guard armed <= now else { return [] }
        let due = takeDue(now)
        settle()
        return due
    }

    /// Takes out all timers with their deadlines, at shutdown.
    mutating func removeAll() -> [(deadline: UInt64, payload: Payload)] {
        var removed: [(deadline: UInt64, payload: Payload)] = []
        while let deadline = queue.nextDeadline, let payload = queue.popExpired(now: .max) {
            removed.append((deadline, payload))
        }
        settle()
        return removed
    }

    /// Takes out all due timers (rule S6).
    private mutating func takeDue(_ now: UInt64) -> [Payload] {
        var due: [Payload] = []
        while let payload = queue.popExpired(now: now) { due.append(payload) }
        return due
    }

    private mutating func settle() {
        armed = next < kept ? next : .max
    }
}

extension PoolTimers: Sendable where Payload: Sendable {}
