import QoSCore
import QoSKernel

// Promotion (rules I1, I3, B13, B15): what stands behind the active entries, and who waits, decides what they run at.

extension QueueCore {
    /// Brings the active entries, and what stands for the queue in its target, to the level that is demanded of them now.
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

    /// An active entry runs, or waits for a thread, at another level from now on.
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

    /// What stands in this queue for another one is to be at another level.
    private func demandChanged(of entry: WorkEntry, to level: LevelCode, _ effects: inout QueueEffects) {
        state.withLock { state in
            guard entry.base != level else { return }
            entry.base = level
            recompute(entry, &state, &effects)
        }
    }

    /// An entry's own demand has changed.
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

    /// How many entries of a queue are looked at while its lock is held.
    private static let lookedAtOnce = 1024

    /// What an entry runs at, or would run at if its turn came now, with all that stands behind it here and in what the queue targets.
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

    /// A synchronous submission was given up: it demands nothing any more, and nobody waits for it.
    func withdrawn(_ entry: WorkEntry) {
        var effects = QueueEffects()
        state.withLock { state in
            (entry.base, entry.waits) = (.none, [])
            recompute(entry, &state, &effects)
        }
        effects.perform(on: core.group)
    }

    /// Somebody of a level waits for an entry of this queue: it, and what stands before it, is raised to that level until
    /// ``waitEnded(for:at:)`` (rules I1, B13). Nothing happens when it has ended.
    func waitBegan(for entry: WorkEntry, at level: LevelCode) {
        guard level != .none else { return }
        changeWaits(of: entry) { $0.append(level) }
    }

    /// The wait is over.
    func waitEnded(for entry: WorkEntry, at level: LevelCode) {
        guard level != .none else { return }
        changeWaits(of: entry) { waits in
            if let index = waits.lastIndex(of: level) { waits.remove(at: index) }
        }
    }

    /// Nobody waits for an entry any more.
    func waitsEnded(for entry: WorkEntry) {
        changeWaits(of: entry) { $0 = [] }
    }

    private func changeWaits(of entry: WorkEntry, _ change: (inout [LevelCode]) -> Void) {
        var effects = QueueEffects()
        state.withLock { state in
            change(&entry.waits)
            recompute(entry, &state, &effects)
        }
        effects.perform(on: core.group)
    }
}
