import QoSCore
import QoSKernel

// Threads that wait for an entry of a queue (rules I1, B13), their work meanwhile, and waits that could never end (rule
// I5).

extension QueueCore {
    /// Waits until an entry of this queue has ended.
    ///
    /// A worker runs the entries before it, if no other thread does: the worker might be the last one of its pool.
    /// After the scheduler's end every thread does so: the default executor may have no thread left.
    ///
    /// - Parameters:
    ///   - entry: the entry to wait for.
    ///   - wait: unparked when the entry has ended.
    ///   - level: the level of the wait that the queue knows.
    ///   - isDone: whether the entry has ended.
    /// - Throws: ``WorkQueueError/deadlock(waits:)`` when the wait would never end.
    func helping(
        towards entry: WorkEntry, wait: ThreadWait, at level: LevelCode, until isDone: () -> Bool
    ) throws(WorkQueueError) {
        var sleep = Sleep(entry, wait, at: level)
        if Worker.current != nil || core.group.isClosedForAll {
            try help(towards: entry, &sleep, until: isDone)
            return
        }
        core.sleepers.add(wait)
        defer { core.sleepers.remove(wait) }
        while !isDone() {
            if core.group.isClosedForAll { return try help(towards: entry, &sleep, until: isDone) }
            try sleep.sleep()
        }
    }

    private func help(
        towards entry: WorkEntry, _ sleep: inout Sleep, until isDone: () -> Bool
    ) throws(WorkQueueError) {
        var helped = HelpedQueues(sleep.wait)
        helped.begin(self)
        defer { helped.end() }
        while !isDone() {
            if !help(towards: entry, until: isDone) { try sleep.sleep() }
        }
    }

    /// Runs the next entry in the way of an entry of this queue, or the entry itself.
    ///
    /// - Returns: `false` if there is none that the calling thread can run.
    func help(towards entry: WorkEntry, until isDone: () -> Bool) -> Bool {
        guard let next = standing(before: entry), next.claim() else { return false }
        next.help(until: isDone)
        return true
    }

    /// Lets the helpers of a queue's chain look again, after an entry was added that one of them had looked for in
    /// vain.
    func wakeHelpers() {
        for helper in lowest.state.withLock({ $0.helpers }) { helper.parker.unpark() }
    }

    /// The end of the chain of targets.
    fileprivate var lowest: QueueCore {
        var queue = self
        while let target = queue.target { queue = target }
        return queue
    }

    /// Returns the next entry to run before an entry of this queue can end: an earlier one, or the entry itself if it
    /// waits for a thread. Returns no other entry: other items may want a lock that the waiting thread holds.
    private func standing(before entry: WorkEntry) -> WorkEntry? {
        let (found, target) = state.withLock { state -> (WorkEntry?, QueueCore?) in
            guard entry.place != .outside else {
                // The entry is not due, or has ended. Nothing here has to run for it.
                entry.isLookedFor = true
                return (nil, nil)
            }
            if kind == .serial { return (state.isDraining ? nil : state.drain, state.target) }
            guard !state.order.isSuspended else { return (nil, nil) }
            let first: WorkEntry? =
                switch entry.place {
                case .outside: nil
                // All active entries came before it, or are the barrier in front of it.
                case .held: state.active.first { !$0.isStarted }
                case .active: entry.isStarted ? nil : entry
                }
            return (state.target == nil ? first : first?.carrier, state.target)
        }
        guard let target else { return found }
        return found.flatMap { target.standing(before: $0) }
    }

    /// Returns all threads that have to make progress before an entry of this queue can end. Returns none if they are
    /// not known, or if a worker will come to the entries in the way.
    ///
    /// Only the threads' ids outlive the lock: the last reference to an entry may go with user code.
    func blockers(of entry: WorkEntry) -> [UInt32] {
        state.withLock { state -> [UInt32] in
            switch entry.place {
            case .outside:
                return []
            case .active:
                return Self.blockers(ofActive: entry, state)
            case .held:
                // Entries in front of a barrier wait for the resumption alone.
                if kind == .concurrent, state.order.isSuspended { return [] }
                if !state.active.isEmpty {
                    return state.active.flatMap { Self.blockers(ofActive: $0, state) }
                }
                guard let target = state.target, let drain = state.drain else { return [] }
                return target.blockers(of: drain)
            }
        }
    }

    private static func blockers(ofActive entry: WorkEntry, _ state: borrowing State) -> [UInt32] {
        let thread = entry.runningThread
        if thread != 0 { return [thread] }
        guard let target = state.target, let carrier = entry.carrier else { return [] }
        return target.blockers(of: carrier)
    }

    /// One thread's wait for an entry.
    private struct Sleep {
        let entry: WorkEntry
        let wait: ThreadWait
        let waiter: LockWaiter
        var isReported = false

        init(_ entry: WorkEntry, _ wait: ThreadWait, at level: LevelCode) {
            self.entry = entry
            self.wait = wait
            waiter = LockWaiter(
                party: .callingThread, name: nil, level: level.level, lockName: entry.awaitedName)
        }

        mutating func sleep() throws(WorkQueueError) {
            if !isReported, InversionDetection.isOn, Worker.current != nil {
                isReported = true
                let holder = entry.blockers.first.map { LockParticipant.thread($0) }
                waiter.report(
                    .blockedPoolThread, holder: holder,
                    "a thread of a pool sleeps for a work queue: await run(_:) or waitUntilFinished() instead")
            }
            try waiter.sleep(wait, awaiting: entry, refusal: WorkQueueError.deadlock(waits:))
        }
    }
}

/// The queues for which a waiting thread looks for entries to run. They wake it when they submit an entry anew.
struct HelpedQueues {
    private let wait: ThreadWait
    private var queues: [ObjectIdentifier: QueueCore] = [:]

    init(_ wait: ThreadWait) {
        self.wait = wait
    }

    /// Begins to help a queue and its targets, before the thread looks for an entry to run.
    mutating func begin(_ queue: QueueCore) {
        let lowest = queue.lowest
        guard queues.updateValue(lowest, forKey: ObjectIdentifier(lowest)) == nil else { return }
        lowest.state.withLock { $0.helpers.append(wait) }
    }

    func end() {
        for queue in queues.values { queue.state.withLock { state in state.helpers.removeAll { $0 === wait } } }
    }
}

extension WorkEntry: ThreadWaitTarget {
    final var blockers: [UInt32] { queue.blockers(of: self) }

    final var awaitedName: String { "queue '\(queue.label)'" }

    final func lowered(from level: LevelCode) {
        queue.waitEnded(for: self, at: level)
    }
}
