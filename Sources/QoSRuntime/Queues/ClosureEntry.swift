import QoSCore

/// A closure that was submitted to a queue.
final class ClosureEntry: WorkEntry, @unchecked Sendable {
    // SAFETY: as the base class; the one further field is a sendable closure that never changes.

    private let body: @Sendable () -> Void

    init(queue: QueueCore, level: LevelCode, isBarrier: Bool, body: @escaping @Sendable () -> Void) {
        self.body = body
        super.init(queue: queue, level: level, isBarrier: isBarrier)
    }

    override func perform() {
        body()
    }
}
