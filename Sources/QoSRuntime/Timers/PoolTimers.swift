import QoSCore

/// The timers that the tasks of one pool have set, and who wakes up for them: an idle worker of the pool, or the loop.
///
/// A pure value: the pool drives it under a lock (`Docs/Protocols/pool-timers.md`).
struct PoolTimers<Payload> {
    private var queue = TimerQueue<Payload>()

    /// The worker that sleeps until ``kept``, and wakes up for the timers by itself; the one that parked last.
    private(set) var keeper: Int?

    /// Until when the keeper sleeps; `UInt64.max` without a keeper, and for one that sleeps until it is woken.
    private(set) var kept = UInt64.max

    /// For when the loop's alarm is set; `UInt64.max` for not at all.
    private(set) var armed = UInt64.max

    /// The next moment for which a worker or the loop has to wake up; `UInt64.max` without timers. All are prompt.
    var next: UInt64 { queue.nextPromptWake ?? .max }

    /// Adds a timer for a task of the pool that is about to be suspended: its worker looks at the timers before it does anything else.
    mutating func add(_ window: TimerWindow, _ payload: Payload) {
        queue.insert(deadline: window.deadline, tolerance: window.tolerance, payload)
    }

    /// A worker of the pool is about to run a job, or does not wait any more: the loop wakes up for what no worker would.
    mutating func workerGoesOn(_ worker: Int) {
        if keeper == worker { (keeper, kept) = (nil, .max) }
        settle()
    }

    /// A worker parks, as the last one so far: it wakes up for the timers from now on.
    ///
    /// It takes over from another keeper, since whoever is woken for a timer's task is the one that parked last.
    ///
    /// - Returns: until when it is to sleep; `UInt64.max` for until it is woken.
    mutating func workerParks(_ worker: Int) -> UInt64 {
        keeper = worker
        kept = next
        settle()
        return kept
    }

    /// What a worker that has slept until its time does.
    enum Awakening {
        /// It has nothing to do with the timers any more: it sleeps until it is woken.
        case sleepsOn
        /// It gives these to their executors, and sleeps on.
        case fires([Payload], then: UInt64)
    }

    /// A parked worker has slept until its time.
    mutating func workerWoke(_ worker: Int, now: UInt64) -> Awakening {
        guard keeper == worker else { return .sleepsOn }
        let due = kept <= now ? takeDue(now) : []
        kept = next
        settle()
        return .fires(due, then: kept)
    }

    /// The loop looks: takes what is due, if it is the one to wake up for that.
    mutating func loopLooks(now: UInt64) -> [Payload] {
        guard armed <= now else { return [] }
        let due = takeDue(now)
        settle()
        return due
    }

    /// Takes out all timers, with their deadlines, at shutdown.
    mutating func removeAll() -> [(deadline: UInt64, payload: Payload)] {
        var removed: [(deadline: UInt64, payload: Payload)] = []
        while let deadline = queue.nextDeadline, let payload = queue.popExpired(now: .max) {
            removed.append((deadline, payload))
        }
        settle()
        return removed
    }

    /// Everything that is due (rule S6).
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
