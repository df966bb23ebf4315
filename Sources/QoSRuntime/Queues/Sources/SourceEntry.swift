import QoSCore

/// A call of a source's handler, in its queue.
// SAFETY: as the base class; `source` never changes.
final class SourceEntry: WorkEntry, @unchecked Sendable {
    let source: any CancellableSource

    init(
        _ source: any CancellableSource, queue: QueueCore, level: LevelCode, onShutdown: ShutdownBehavior?
    ) {
        self.source = source
        super.init(queue: queue, level: level, onShutdown: onShutdown)
    }

    override func perform() {
        CarriedContext.run(nil, source.handle)
    }

    /// The source whose handler the calling thread runs; `nil` outside of handlers.
    static var currentSource: (any CancellableSource)? {
        var entry = WorkEntry.current
        while let around = entry {
            if let handling = around as? SourceEntry { return handling.source }
            entry = around.outerEntry
        }
        return nil
    }
}
