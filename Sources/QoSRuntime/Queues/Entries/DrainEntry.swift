import QoSCore

/// Stands for a serial queue with items in a pool, or in the queue that it targets; runs some of them.
// SAFETY: as the base class; the one further field never changes.
final class DrainEntry: WorkEntry, @unchecked Sendable {
    /// The queue whose items it runs; ``WorkEntry/queue`` is where it stands.
    private let drained: QueueCore

    init(of drained: QueueCore, in queue: QueueCore, level: LevelCode) {
        self.drained = drained
        super.init(queue: queue, level: level)
    }

    override func perform() {
        drained.drain(rank: nil)
    }

    override func help(until isEnough: () -> Bool) {
        if queue === drained { drained.drain(rank: nil, until: isEnough) } else { super.help(until: isEnough) }
    }

    override func reached(inPoolOf rank: Int?) {
        // In another queue it is an entry like any other, whose turn has to be given back.
        guard drained === queue else {
            super.reached(inPoolOf: rank)
            return
        }
        guard claim() else { return }
        drained.drain(rank: rank)
    }
}

/// Stands for an item of a concurrent queue in the queue that this targets.
// SAFETY: as the base class; the one further field never changes.
final class CarrierEntry: WorkEntry, @unchecked Sendable {
    private let carried: WorkEntry

    init(_ carried: WorkEntry, in queue: QueueCore, level: LevelCode) {
        self.carried = carried
        super.init(queue: queue, level: level)
    }

    override func perform() {
        if carried.claim() { carried.queue.run(active: carried) }
    }
}
