import QoSCore
import QoSKernel

extension QueueCore {
    /// Runs a body in the queue's turn before it returns: on the calling thread where the queue and what it targets are idle.
    ///
    /// - Throws: ``WorkQueueError/wouldDeadlock(_:)``.
    func sync(level: LevelCode, isBarrier: Bool, _ body: () -> Void) throws(WorkQueueError) {
        try checkMayWait(isBarrier: isBarrier)
        withoutActuallyEscaping(body) { body in
            let entry = SyncEntry(queue: self, level: level, isBarrier: isBarrier, body: body)
            if enter(entry) {
                entry.runEntered()
            } else {
                entry.unclaim()
                entry.wait = ThreadWait()
                add(entry)
                waitHelping(entry)
            }
        }
    }

    /// Gives an entry its turn at once, if nothing stands in its way, here and in what the queue targets.
    private func enter(_ entry: SyncEntry) -> Bool {
        if isGlobal {
            entry.publish(entry.base)
            return true
        }
        let isWithin = WorkEntry.current != nil && isRunByCaller
        let entered: (Bool, SyncEntry?, QueueCore?) = state.withLock { state in
            if isWithin {
                state.order.enteredWithin()
                activate(entry, &state)
                return (true, nil, nil)
            }
            guard state.order.entered(isBarrier: entry.isBarrier) else { return (false, nil, nil) }
            activate(entry, &state)
            guard let target = state.target else { return (true, nil, nil) }
            let carrier = SyncEntry(carrying: entry, queue: target, level: entry.effective)
            entry.carrier = carrier
            return (true, carrier, target)
        }
        guard entered.0 else { return false }
        guard let carrier = entered.1, let target = entered.2 else { return true }
        if target.enter(carrier) { return true }
        state.withLock { _ in entry.carrier = nil }
        finish(entry)
        return false
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

    /// - Throws: ``WorkQueueError/wouldDeadlock(_:)`` when the calling thread runs something that a synchronous submission to
    ///   this queue would have to wait for: an item of the queue or of one that it targets, where those run one at a time.
    func checkMayWait(isBarrier: Bool) throws(WorkQueueError) {
        guard let innermost = WorkEntry.current else { return }
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

    /// Waits until an entry has run. A worker runs what stands before it itself, where nobody else does: it might be the
    /// last of its pool that could.
    private func waitHelping(_ entry: SyncEntry) {
        guard let wait = entry.wait else { return }
        helping(wait: wait) {
            entry.isDone
        } park: {
            wait.parker.park()
        }
    }

    /// Waits until something is done that this queue has to do.
    ///
    /// - Parameters:
    ///   - wait: is unparked when it is done.
    ///   - park: sleeps until `wait` is unparked.
    func helping(wait: ThreadWait, until isDone: () -> Bool, park: () -> Void) {
        guard unsafe Worker.current != nil else {
            while !isDone() { park() }
            return
        }
        let lowest = self.lowest
        lowest.state.withLock { $0.helpers.append(wait) }
        while !isDone() {
            if !lowest.help(until: isDone) { park() }
        }
        lowest.state.withLock { state in state.helpers.removeAll { $0 === wait } }
    }

    /// The end of the chain of targets.
    private var lowest: QueueCore {
        var queue = self
        while let target = queue.target { queue = target }
        return queue
    }

    /// Runs something of this queue, which targets no other, that waits for a thread.
    ///
    /// - Returns: `false` when nothing does.
    private func help(until isDone: () -> Bool) -> Bool {
        if kind == .serial {
            guard let drain = state.withLock({ $0.isDraining ? nil : $0.drain }), drain.claim() else { return false }
            self.drain(rank: nil, until: isDone)
            return true
        }
        let waiting = state.withLock { state in state.order.isSuspended ? nil : state.active.first { !$0.isStarted } }
        guard let waiting, waiting.claim() else { return false }
        run(active: waiting)
        return true
    }
}
