import QoSCore
import QoSKernel

// Promotion (rules I1, I3, B13, B15): the entries behind the active ones, and the waiters, decide the levels of the
// active ones.

extension QueueCore {
    /// Brings the active entries, and the queue's entry in its target, to the level that is now demanded of them.
    func settle(_ state: inout State, _ effects: inout QueueEffects) {
        let raise = state.order.raise
        if raise != state.raise {
            state.raise = raise
            for entry in state.active {
                update(entry, to: max(entry.demand, raise), state, &effects)
            }
        }
        guard let drain = state.drain else { return }
        let level = state.active.first?.effective ?? state.order.highestHeld
        if let target = state.target {
            target.demandChanged(of: drain, to: level, &effects)
        } else if drain.effective != level {
            drain.publish(level)
            raiseInPool(drain, to: level, isRunning: state.isDraining, &effects)
        }
    }

    /// Changes the level of an active entry, which runs or waits for a thread.
    private func update(
        _ entry: WorkEntry, to level: LevelCode, _ state: borrowing State, _ effects: inout QueueEffects
    ) {
        guard entry.effective != level else { return }
        entry.publish(level)
        if let target = state.target, let carrier = entry.carrier {
            target.demandChanged(of: carrier, to: level, &effects)
        }
        raiseInPool(entry, to: level, isRunning: kind == .serial || entry.isStarted, &effects)
    }

    private func raiseInPool(
        _ entry: WorkEntry, to level: LevelCode, isRunning: Bool, _ effects: inout QueueEffects
    ) {
        if isRunning {
            effects.runningChanged(entry)
        } else if entry.pooledOrder >= 0, level.poolOrder > entry.pooledOrder {
            entry.pooledOrder = level.poolOrder
            effects.raise(entry, rank: level.rank)
        }
    }

    /// Changes the level of an entry that stands in this queue for another queue.
    private func demandChanged(of entry: WorkEntry, to level: LevelCode, _ effects: inout QueueEffects) {
        state.withLock { state in
            guard entry.base != level else { return }
            entry.base = level
            recompute(entry, &state, &effects)
        }
    }

    /// Updates an entry whose own demand has changed.
    private func recompute(_ entry: WorkEntry, _ state: inout State, _ effects: inout QueueEffects) {
        switch entry.place {
        case .outside:
            return
        case .held(let number):
            entry.publish(entry.demand)
            state.order.levelChanged(of: number, to: entry.demand)
        case .active:
            update(entry, to: max(entry.demand, state.raise), state, &effects)
        }
        settle(&state, &effects)
    }

    /// The number of entries of a queue that a look covers while it holds the queue's lock.
    private static let lookedAtOnce = 1024

    /// Returns the level at which an entry runs, or would run if its turn came now. The level includes the entries
    /// behind it, here and in the target queues.
    func expectedLevel(of entry: WorkEntry) -> LevelCode {
        var search: WorkOrder.Behind?
        while true {
            let (level, carrier, target, isOver) = state.withLock {
                state -> (LevelCode, WorkEntry?, QueueCore?, Bool) in
                switch entry.place {
                case .outside: return (entry.demand, nil, nil, true)
                case .active: return (entry.effective, entry.carrier, state.target, true)
                case .held(let number):
                    var behind = search ?? WorkOrder.Behind(number)
                    let isOver = state.order.look(&behind, limit: Self.lookedAtOnce)
                    search = behind
                    return (max(entry.demand, behind.level), state.drain, state.target, isOver)
                }
            }
            guard isOver else { continue }
            guard let carrier, let target else { return level }
            return max(level, target.expectedLevel(of: carrier))
        }
    }

    /// Takes the demands and the waiters from a synchronous submission that was given up.
    func withdrawn(_ entry: WorkEntry) {
        var effects = QueueEffects()
        state.withLock { state in
            (entry.base, entry.waits) = (.none, [])
            recompute(entry, &state, &effects)
        }
        effects.perform(on: core.group)
    }

    /// Raises an entry of this queue, and the entries before it, to a waiter's level until ``waitEnded(for:at:)``
    /// (rules I1, B13). Does nothing when the entry has ended.
    func waitBegan(for entry: WorkEntry, at level: LevelCode) {
        guard level != .none else { return }
        changeWaits(of: entry) { $0.append(level) }
    }

    /// Takes back one ``waitBegan(for:at:)``.
    func waitEnded(for entry: WorkEntry, at level: LevelCode) {
        guard level != .none else { return }
        changeWaits(of: entry) { waits in
            if let index = waits.lastIndex(of: level) { waits.remove(at: index) }
        }
    }

    /// Removes all waiters of an entry.
    func waitsEnded(for entry: WorkEntry) {
        changeWaits(of: entry) { $0 = [] }
    }

    /// Changes the waiters of an entry. Does not raise or lower an entry that has ended.
    func changeWaits(of entry: WorkEntry, _ change: (inout [LevelCode]) -> Void) {
        var effects = QueueEffects()
        state.withLock { state in
            change(&entry.waits)
            recompute(entry, &state, &effects)
        }
        effects.perform(on: core.group)
    }
}
