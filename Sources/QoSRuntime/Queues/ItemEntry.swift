import QoSCore

/// An item that was submitted to a queue.
final class ItemEntry: WorkEntry, @unchecked Sendable {
    // SAFETY: as the base class; the one further field belongs to whoever runs the entry.

    /// Until it has run: the two refer to each other.
    private var item: WorkItem?

    init(_ item: WorkItem, queue: QueueCore, level: LevelCode, isBarrier: Bool) {
        self.item = item
        super.init(queue: queue, level: level, isBarrier: isBarrier)
    }

    override func perform() {
        item.take()?.runOnce()
    }
}
