import QoSCore

/// An item that was submitted to a queue.
// SAFETY: as the base class; `item` belongs to the thread that runs the entry, `context` never changes.
final class ItemEntry: WorkEntry, @unchecked Sendable {
    /// Kept until the item has run: the two refer to each other.
    private var item: WorkItem?
    private let context: CarriedContext?

    init(_ item: WorkItem, queue: QueueCore, level: LevelCode, isBarrier: Bool, context: CarriedContext?) {
        self.item = item
        self.context = context
        super.init(queue: queue, level: level, isBarrier: isBarrier, onShutdown: item.flags.shutdownBehavior)
    }

    override func passOver() {
        item?.cancel()
        perform()
    }

    override func perform() {
        guard let item = item.take() else { return }
        CarriedContext.run(context) { item.runOnce() }
    }
}
