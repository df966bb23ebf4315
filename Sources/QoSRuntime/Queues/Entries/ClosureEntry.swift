import QoSCore

/// A closure that was submitted to a queue.
// SAFETY: as the base class; the additional fields are sendable and never change.
final class ClosureEntry: WorkEntry, @unchecked Sendable {
    private let body: @Sendable () -> Void
    private let context: CarriedContext?

    init(
        queue: QueueCore, level: LevelCode, isBarrier: Bool, context: CarriedContext? = nil,
        onShutdown: ShutdownBehavior? = nil, body: @escaping @Sendable () -> Void
    ) {
        self.body = body
        self.context = context
        super.init(queue: queue, level: level, isBarrier: isBarrier, onShutdown: onShutdown)
    }

    override func perform() {
        CarriedContext.run(context, body)
    }
}
