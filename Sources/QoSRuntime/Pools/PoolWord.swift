/// The sleeping workers of a pool and the numbers of searching and existing ones, in one word that changes by
/// compare-and-swap.
///
/// A pure value. Its methods make the decisions to wake and park, and the pool carries them out
/// (`Docs/Inside/Protocols/wake-park.md`).
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
    /// The largest number of workers that the word can count.
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

    /// The action that follows after work has been added.
    enum Notification: Equatable {
        /// A worker already looks for work, or none is left to wake.
        case nothing
        /// This worker has been taken off the stack and counts as searching: unpark it. The other one has been taken off
        /// as well, and has to be put back.
        case unpark(worker: Int, putBack: Int?)
        /// This worker counts as started and as searching: give it a thread.
        case start(worker: Int)
    }

    /// Notes that work has been added. Wakes one worker, unless one searches.
    ///
    /// - Parameters:
    ///   - width: the number of workers that the pool may have.
    ///   - isLate: whether a woken worker counts as searching and does not run (``WakeWatch``). Then a parked worker is
    ///     woken beside it.
    ///   - prefersSecond: whether to wake the worker below the top one, if there is one. Both are off the stack then, and
    ///     the caller puts the top one back.
    ///   - nextParked: the link of a parked worker.
    func workAdded(
        width: Int, isLate: Bool = false, prefersSecond: (_ top: Int, _ second: Int) -> Bool = { _, _ in false },
        nextParked: (Int) -> Int?
    ) -> (PoolWord, Notification) {
        guard searching == 0 || isLate else { return (self, .nothing) }
        if let top = parkedTop {
            if let second = nextParked(top), prefersSecond(top, second) {
                let rest = with(parkedTop: nextParked(second), searching: searching + 1, started: started)
                return (rest, .unpark(worker: second, putBack: top))
            }
            let rest = with(parkedTop: nextParked(top), searching: searching + 1, started: started)
            return (rest, .unpark(worker: top, putBack: nil))
        }
        // The loop creates one thread at a time.
        guard searching == 0, started < width else { return (self, .nothing) }
        return (with(parkedTop: nil, searching: 1, started: started + 1), .start(worker: started))
    }

    /// Notes that a worker without work wants to look at the other workers' queues. At most half of them do so at a
    /// time.
    func searchWanted() -> PoolWord? {
        guard 2 * searching < max(started, 2) else { return nil }
        return with(parkedTop: parkedTop, searching: searching + 1, started: started)
    }

    /// Notes that a searching worker has found work. The last searching worker must look for more work, and wake
    /// another worker if it finds any.
    func workFound() -> (PoolWord, wasLast: Bool) {
        (with(parkedTop: parkedTop, searching: searching - 1, started: started), searching == 1)
    }

    /// Notes that a worker goes to sleep. After the new word is published, the worker has to look for work once more.
    func workerParks(_ worker: Int, wasSearching: Bool) -> PoolWord {
        with(parkedTop: worker, searching: wasSearching ? searching - 1 : searching, started: started)
    }

    /// Takes the worker that parked last off the stack; the loop does so to look through all of them. `nil` when none
    /// is parked.
    ///
    /// - Parameter nextParked: the link of the worker on top of the stack.
    func parkedTaken(nextParked: (Int) -> Int?) -> (PoolWord, worker: Int)? {
        guard let top = parkedTop else { return nil }
        return (with(parkedTop: nextParked(top), searching: searching, started: started), top)
    }

    /// Notes that a worker that was taken off the stack is to end its thread. Only the worker that was started last
    /// can. `nil` when it is another one, or when no more than `limit` are started.
    func retired(_ worker: Int, limit: Int) -> PoolWord? {
        guard started > limit, worker == started - 1 else { return nil }
        return with(parkedTop: parkedTop, searching: searching, started: started - 1)
    }

    /// Notes that the thread of a worker that was to start could not be created.
    func startFailed() -> PoolWord {
        with(parkedTop: parkedTop, searching: searching - 1, started: started - 1)
    }
}
