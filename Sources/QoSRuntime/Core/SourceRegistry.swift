import QoSKernel
import Synchronization

/// The view that a scheduler has of a source.
protocol CancellableSource: AnyObject, Sendable {
    var scheduler: SchedulerCore { get }
    var isCancelled: Bool { get }

    /// Reports events to the handler. During the queue's turn.
    func handle()

    /// Lets no call of the handler begin until ``resume()``. Any thread.
    func suspend()

    /// Takes back one ``suspend()``; returns `false` if there is none. Any thread.
    func resume() -> Bool

    /// Lets no call of the handler begin from now on. Any thread, any number of times.
    func cancel()

    /// Adds a body that runs at the end; at once if the source has ended.
    func onCancel(_ body: @escaping @Sendable () -> Void)
}

/// The sources of a scheduler. They end with its loop, because a task that awaits an event must not wait forever.
///
/// Threading: any thread.
final class SourceRegistry: Sendable {
    private struct Content: Sendable {
        var sources: [ObjectIdentifier: any CancellableSource] = [:]
        var isClosed = false
    }

    private let content = Lock(Content())
    private let timersEnd = Atomic<Bool>(false)

    /// Whether no timer fires again. Any thread.
    var timersHaveEnded: Bool { timersEnd.load(ordering: .relaxed) }

    /// Ends all timers, because a shutdown begins. It would wait forever for the handlers of repeating timers.
    func endTimers() {
        timersEnd.store(true, ordering: .relaxed)
    }

    /// Keeps a source until its end. Ends it at once if the loop has ended.
    func add(_ source: any CancellableSource) {
        let isClosed = content.withLock { content in
            if !content.isClosed { content.sources[ObjectIdentifier(source)] = source }
            return content.isClosed
        }
        if isClosed { source.cancel() }
    }

    func remove(_ source: any CancellableSource) {
        let removed = content.withLock { $0.sources.removeValue(forKey: ObjectIdentifier(source)) }
        withExtendedLifetime(removed) {}
    }

    /// Ends all sources, and those that are added later.
    func close() {
        let sources = content.withLock { content in
            content.isClosed = true
            defer { content.sources = [:] }
            return content.sources
        }
        for source in sources.values { source.cancel() }
    }
}
