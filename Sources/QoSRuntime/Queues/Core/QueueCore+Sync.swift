import QoSCore
import QoSKernel

extension QueueCore {
    /// Runs a body in the queue's turn before it returns. The body runs on the calling thread if the queue and its
    /// targets are idle.
    ///
    /// Call ``checkMayWait(isBarrier:)`` first. On a serial queue also try ``enterIdle(level:caller:)``, which costs
    /// less.
    ///
    /// - Parameters:
    ///   - level: the level of the submission.
    ///   - caller: the level at which the calling thread runs anyway.
    ///   - willWait: called with the entry of the submission, before it is added, if the queue is busy.
    /// - Throws: ``WorkQueueError/deadlock(waits:)``. The body has then not run.
    func sync(
        level: LevelCode, caller: LevelCode, isBarrier: Bool, willWait: (SyncEntry) -> Void = { _ in },
        _ body: () -> Void
    ) throws(WorkQueueError) {
        try withoutActuallyEscaping(body) { (body) throws(WorkQueueError) in
            let entry = SyncEntry(
                queue: self, level: level, callerRank: caller.rank, isBarrier: isBarrier, body: body)
            if enter(entry) {
                entry.runEntered()
                keep(entry)
            } else {
                entry.unclaim()
                let wait = ThreadWait()
                entry.wait = wait
                willWait(entry)
                add(entry)
                try waitHelping(entry, wait, at: level)
            }
        }
    }

    // MARK: An idle serial queue

    /// The calling thread's turn on an idle serial queue.
    @safe
    struct IdleTurn {
        // SAFETY: `around` is the pointer that `WorkEntry.end(_:)` puts back, on the same thread.
        fileprivate let entry: SyncEntry
        fileprivate let around: UnsafeMutableRawPointer?
    }

    /// Gives the caller a serial queue's turn if the queue is idle. A submission takes two short turns of one lock, and
    /// no allocation. All work of the caller until ``leaveIdle(_:)`` is a part of the turn.
    ///
    /// - Returns: the turn; `nil` if this short way is not possible.
    func enterIdle(level: LevelCode, caller: LevelCode) -> IdleTurn? {
        guard kind == .serial, !hasTarget else { return nil }
        let entry: SyncEntry? = state.withLock { state in
            guard state.idleTurn != nil, state.target == nil, state.order.entered(isBarrier: true),
                let entry = state.idleTurn.take()
            else { return nil }
            entry.prepare(level: level, callerRank: caller.rank)
            entry.place = .active(0)
            state.active.append(entry)
            return entry
        }
        guard let entry else { return nil }
        return unsafe IdleTurn(entry: entry, around: entry.begin())
    }

    /// Gives the turn back.
    func leaveIdle(_ turn: consuming IdleTurn) {
        let entry = turn.entry
        unsafe entry.end(turn.around)
        let isQuiet = state.withLock { state in
            end(entry, &state)
            if !state.isReleased { state.idleTurn = entry }
            return state.order.heldCount == 0 && state.raise == .none
        }
        if !isQuiet { advance() }
    }

    /// Keeps an entry for the next submitter that finds the serial queue idle.
    private func keep(_ entry: SyncEntry) {
        guard kind == .serial, !hasTarget else { return }
        state.withLock { state in
            if state.idleTurn == nil, !state.isReleased { state.idleTurn = entry }
        }
    }

    /// The outcome of an entry's attempt to get its turn at once.
    private enum Entrance {
        /// The queue is busy.
        case refused
        /// The entry has its turn.
        case entered
        /// The entry has its turn here. Its carrier has to get one on the target.
        case carried(by: SyncEntry, on: QueueCore)
    }

    /// Gives an entry its turn at once if the queue and its targets are idle.
    private func enter(_ entry: SyncEntry) -> Bool {
        if isGlobal {
            entry.publish(entry.base)
            return true
        }
        let isWithin = WorkEntry.current != nil && isRunByCaller
        let entrance: Entrance = state.withLock { state in
            if isWithin {
                state.order.enteredWithin()
                activate(entry, &state)
                return .entered
            }
            guard state.order.entered(isBarrier: entry.isBarrier) else { return .refused }
            activate(entry, &state)
            guard let target = state.target else { return .entered }
            let carrier = SyncEntry(carrying: entry, queue: target, level: entry.effective)
            entry.carrier = carrier
            return .carried(by: carrier, on: target)
        }
        switch entrance {
        case .refused: return false
        case .entered: return true
        case .carried(let carrier, let target):
            if target.enter(carrier) { return true }
            state.withLock { _ in entry.carrier = nil }
            finish(entry)
            return false
        }
    }

    /// Whether the calling thread runs an item of this queue.
    private var isRunByCaller: Bool {
        var entry = WorkEntry.current
        while let current = entry {
            if current.queue === self { return true }
            entry = current.outerEntry
        }
        return false
    }

    // MARK: A busy one

    /// - Throws: ``WorkQueueError/wouldDeadlock(_:)`` when the calling thread runs an item in the way of a synchronous
    ///   submission to this queue. Such an item belongs to this queue or a target, if that runs one item at a time.
    @inline(__always)
    func checkMayWait(isBarrier: Bool) throws(WorkQueueError) {
        if let innermost = WorkEntry.current { try checkMayWait(within: innermost, isBarrier: isBarrier) }
    }

    private func checkMayWait(within innermost: WorkEntry, isBarrier: Bool) throws(WorkQueueError) {
        var queue: QueueCore? = self
        while let step = queue {
            var entry: WorkEntry? = innermost
            while let current = entry {
                let excludes = step.kind == .serial || current.isBarrier || (step === self && isBarrier)
                if current.queue === step, excludes, !step.isGlobal { throw .wouldDeadlock(step.label) }
                entry = current.outerEntry
            }
            queue = step.target
        }
    }

    /// Waits until an entry has run. Gives the entry up if the wait would never end.
    private func waitHelping(_ entry: SyncEntry, _ wait: ThreadWait, at level: LevelCode) throws(WorkQueueError) {
        while !entry.isDone {
            do throws(WorkQueueError) {
                try helping(towards: entry, wait: wait, at: level) { entry.isDone }
            } catch {
                guard entry.withdraw() else { continue }
                withdrawn(entry)
                throw error
            }
        }
    }
}
