/// Who of a pool's workers sleeps, searches and exists, in one word that changes by compare-and-swap.
///
/// A pure value: the wake-and-park decisions are its methods, the pool drives them (`Docs/Protocols/wake-park.md`).
///
/// | bits | field |
/// |---|---|
/// | 0–9 | `parkedTop`: 1 + the index of the last worker that parked, 0 when none is parked |
/// | 10–19 | `searching`: workers that are awake and look for work |
/// | 20–29 | `started`: workers that have a thread, or one on its way |
/// | 30–63 | `version`: changes with each transition, so that a stale compare-and-swap fails |
///
/// The parked workers form a stack: `parkedTop` names the first, each worker's own link names the next.
struct PoolWord: Equatable {
    /// More workers than this cannot be counted.
    static let maximumWorkers = (1 << 10) - 2

    private(set) var rawValue: UInt64

    init(rawValue: UInt64 = 0) {
        self.rawValue = rawValue
    }

    /// The index of the last worker that parked.
    var parkedTop: Int? {
        let value = Int(rawValue & 0x3FF)
        return value == 0 ? nil : value - 1
    }

    var searching: Int { Int(rawValue >> 10 & 0x3FF) }

    var started: Int { Int(rawValue >> 20 & 0x3FF) }

    private func with(parkedTop: Int?, searching: Int, started: Int) -> PoolWord {
        let version = (rawValue >> 30) &+ 1
        let top = parkedTop.map { UInt64($0 + 1) } ?? 0
        return PoolWord(rawValue: top | UInt64(searching) << 10 | UInt64(started) << 20 | version << 30)
    }

    /// What is to be done after work has been added.
    enum Notification: Equatable {
        /// Somebody looks for work already, or nobody is left to be woken.
        case nothing
        /// This worker has been taken off the stack and counts as searching: unpark it.
        case unpark(worker: Int)
        /// This worker counts as started and as searching: give it a thread.
        case start(worker: Int)
    }

    /// Work has been added: wakes one worker, unless one searches.
    ///
    /// - Parameters:
    ///   - width: how many workers the pool may have.
    ///   - nextParked: the link of the worker on top of the stack.
    func workAdded(width: Int, nextParked: (Int) -> Int?) -> (PoolWord, Notification) {
        guard searching == 0 else { return (self, .nothing) }
        if let top = parkedTop {
            return (with(parkedTop: nextParked(top), searching: 1, started: started), .unpark(worker: top))
        }
        guard started < width else { return (self, .nothing) }
        return (with(parkedTop: nil, searching: 1, started: started + 1), .start(worker: started))
    }

    /// A worker without work wants to look at the other workers' queues. At most half of them do at a time.
    func searchWanted() -> PoolWord? {
        guard 2 * searching < max(started, 2) else { return nil }
        return with(parkedTop: parkedTop, searching: searching + 1, started: started)
    }

    /// A searching worker has found work. When it was the last that searched, it has to look whether there is more,
    /// and to wake another if so.
    func workFound() -> (PoolWord, wasLast: Bool) {
        (with(parkedTop: parkedTop, searching: searching - 1, started: started), searching == 1)
    }

    /// A worker goes to sleep. It has to look once more for work after this has been published.
    func workerParks(_ worker: Int, wasSearching: Bool) -> PoolWord {
        with(parkedTop: worker, searching: wasSearching ? searching - 1 : searching, started: started)
    }

    /// The loop takes the worker that parked last off the stack, to look through all of them. `nil` when none is parked.
    ///
    /// - Parameter nextParked: the link of the worker on top of the stack.
    func parkedTaken(nextParked: (Int) -> Int?) -> (PoolWord, worker: Int)? {
        guard let top = parkedTop else { return nil }
        return (with(parkedTop: nextParked(top), searching: searching, started: started), top)
    }

    /// A worker that has been taken off the stack is to end its thread: only the last one that was started can. `nil` when it is
    /// not the last, or when no more than `limit` are started.
    func retired(_ worker: Int, limit: Int) -> PoolWord? {
        guard started > limit, worker == started - 1 else { return nil }
        return with(parkedTop: parkedTop, searching: searching, started: started - 1)
    }

    /// The thread of a worker that was to start could not be created.
    func startFailed() -> PoolWord {
        with(parkedTop: parkedTop, searching: searching - 1, started: started - 1)
    }
}
