import QoSKernel
import Synchronization

/// A source as its scheduler knows it.
protocol CancellableSource: AnyObject, Sendable {
    var scheduler: SchedulerCore { get }
    var isCancelled: Bool { get }

    /// Gives what has happened to the handler. The queue's turn.
    func handle()

    /// Lets no call of the handler begin until ``resume()``. Any thread.
    func suspend()

    /// Takes one ``suspend()`` back; `false` where there is none. Any thread.
    func resume() -> Bool

    /// No call of the handler begins from now on. Any thread, any number of times.
    func cancel()

    /// Adds something to be done at the end; at once if that has come.
    func onCancel(_ body: @escaping @Sendable () -> Void)
}

/// The sources of a scheduler, which end with its loop: a task that awaits an event must not wait for ever.
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

    /// A shutdown begins, which would wait for the handlers of repeating timers for ever.
    func endTimers() {
        timersEnd.store(true, ordering: .relaxed)
    }

    /// Keeps a source until its end; ends it at once when the loop has ended.
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
