import QoSCore

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
