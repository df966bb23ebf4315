import QoSCore
import QoSKernel

extension QueueCore {
    /// The number of items of a serial queue that run in one turn. Then the pool's other work, or the target's other
    /// queues, get theirs.
    private static let batch = 64

    /// Runs items of a serial queue one after the other, on the calling thread, which has claimed the queue's drain.
    ///
    /// - Parameters:
    ///   - rank: the rank of the pool whose worker runs them. If the next item belongs into another pool, it is handed
    ///     over. With `nil` the thread goes on regardless.
    ///   - isEnough: asked before each item.
    func drain(rank: Int?, until isEnough: () -> Bool = { false }) {
        state.withLock { $0.isDraining = true }
        var entry: WorkEntry?
        var left = Self.batch
        repeat {
            let mayGoOn = left > 0 && !isEnough()
            left -= 1
            entry = turn(after: entry, rank: rank, mayGoOn: mayGoOn)
            entry?.run()
        } while entry != nil
    }

    /// Ends an item, if there is one, and gives the next item its turn.
    ///
    /// - Returns: the next item; `nil` when the drain has ended. The remaining items have then been submitted anew.
    private func turn(after entry: WorkEntry?, rank: Int?, mayGoOn: Bool) -> WorkEntry? {
        var effects = QueueEffects()
        let next = state.withLock { state -> WorkEntry? in
            if let entry { end(entry, &state) }
            if mayGoOn, rank == nil || state.order.highestHeld.rank == rank, let token = state.order.next() {
                let next = WorkEntry.take(token: token)
                activate(next, &state)
                settle(&state, &effects)
                return next
            }
            state.isDraining = false
            state.drain = nil
            advance(&state, &effects)
            return nil
        }
        effects.perform(on: core.group)
        return next
    }

    /// Runs an entry that has its turn and has been claimed.
    func run(active entry: WorkEntry) {
        if isGlobal {
            entry.run()
            return
        }
        let mayStart = state.withLock { state in
            guard state.order.isSuspended else { return true }
            // The entry keeps its turn and starts when the queue is resumed.
            entry.unclaim()
            state.stalled.append(entry)
            return false
        }
        guard mayStart else { return }
        entry.run()
        finish(entry)
    }

    // MARK: Suspension

    func suspend() throws(WorkQueueError) {
        guard !isGlobal else { throw .globalQueue(label) }
        state.withLock { $0.order.suspended() }
    }

    func resume() throws(WorkQueueError) {
        guard !isGlobal else { throw .globalQueue(label) }
        var effects = QueueEffects()
        let wasSuspended = state.withLock { state in
            guard state.order.resumed() else { return false }
            guard !state.order.isSuspended else { return true }
            let stalled = state.stalled
            state.stalled = []
            for entry in stalled { submitActive(entry, &state, &effects) }
            advance(&state, &effects)
            return true
        }
        effects.perform(on: core.group)
        // Helpers found these entries while the queue was suspended, and left them.
        if wasSuspended { wakeHelpers() }
        guard wasSuspended else { throw .notSuspended(label) }
    }

    /// Resumes a queue without a handle, however often it was suspended: no code can resume it any more.
    func released() {
        while (try? resume()) != nil {}
        let idleTurn = state.withLock { state in
            state.isReleased = true
            return state.idleTurn.take()
        }
        _ = consume idleTurn
    }
}
