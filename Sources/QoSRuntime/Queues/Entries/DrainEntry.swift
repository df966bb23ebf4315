import QoSCore

/// The entry of a serial queue with items, in a pool or in its target queue. It runs some of the items.
// SAFETY: as the base class; the one additional field never changes.
final class DrainEntry: WorkEntry, @unchecked Sendable {
    /// The queue whose items the drain runs. ``WorkEntry/queue`` is the queue that contains the drain.
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
        // In another queue the drain is an entry like any other, and its turn has to be given back.
        guard drained === queue else {
            super.reached(inPoolOf: rank)
            return
        }
        guard claim() else { return }
        drained.drain(rank: rank)
    }
}

/// The entry of a concurrent queue's item, in the target queue.
// SAFETY: as the base class; the one additional field never changes.
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
