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
        helping(towards: entry, wait: wait) {
            entry.isDone
        } park: {
            wait.parker.park()
        }
    }

    /// Waits until an entry of this queue has ended.
    ///
    /// - Parameters:
    ///   - entry: what is waited for.
    ///   - wait: is unparked when it has ended.
    ///   - park: sleeps until `wait` is unparked.
    func helping(towards entry: WorkEntry, wait: ThreadWait, until isDone: () -> Bool, park: () -> Void) {
        guard unsafe Worker.current != nil else {
            while !isDone() { park() }
            return
        }
        let lowest = self.lowest
        lowest.state.withLock { $0.helpers.append(wait) }
        while !isDone() {
            if let next = standing(before: entry), next.claim() { next.help(until: isDone) } else { park() }
        }
        lowest.state.withLock { state in state.helpers.removeAll { $0 === wait } }
    }

    /// The end of the chain of targets.
    private var lowest: QueueCore {
        var queue = self
        while let target = queue.target { queue = target }
        return queue
    }

    /// What has to run before an entry of this queue can end, or the entry, if that waits for a thread; nothing else: other items may
    /// want what the waiting thread holds.
    private func standing(before entry: WorkEntry) -> WorkEntry? {
        let (found, target) = state.withLock { state -> (WorkEntry?, QueueCore?) in
            if kind == .serial { return (state.isDraining ? nil : state.drain, state.target) }
            guard !state.order.isSuspended else { return (nil, nil) }
            let first =
                switch entry.place {
                case .outside: nil as WorkEntry?
                // All that have their turn came before it, or are the barrier that it stands behind.
                case .held: state.active.first { !$0.isStarted }
                case .active: entry.isStarted ? nil : entry
                }
            return (state.target == nil ? first : first?.carrier, state.target)
        }
        guard let target else { return found }
        return found.flatMap { target.standing(before: $0) }
    }
}
