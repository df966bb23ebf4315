import QoSCore
import QoSKernel

/// Brings events to a handler on a queue, one call at a time; what happens before the handler has run is merged into one call.
///
/// Handlers are detached (rule B10). Threading: any thread.
final class SourceCore<Event: Sendable>: CancellableSource {
    private struct State {
        var pending: Event?

        /// From the submission of a call of the handler to the call's end.
        var isHandling = false
        var isCancelled = false
        var onCancel: [@Sendable () -> Void] = []
    }

    private let queue: QueueCore
    private let level: LevelCode
    private let onShutdown: ShutdownBehavior?
    private let merge: @Sendable (Event, Event) -> Event
    private let handler: @Sendable (Event) -> Void
    private let handled: @Sendable () -> Void
    private let state = Lock(State())

    /// - Parameters:
    ///   - merge: makes one event of two.
    ///   - handled: called on the queue after each call of the handler.
    init(
        queue: QueueCore, level: QoSLevel?, onShutdown: ShutdownBehavior? = nil,
        merge: @escaping @Sendable (Event, Event) -> Event,
        handler: @escaping @Sendable (Event) -> Void, handled: @escaping @Sendable () -> Void = {}
    ) {
        self.queue = queue
        self.level = queue.detachedLevel(level, [])
        self.onShutdown = onShutdown
        self.merge = merge
        self.handler = handler
        self.handled = handled
    }

    /// The class that a timer's tolerance is taken from.
    var qosClass: QoSClass { QoSClass(atRank: level.rank) }

    var isCancelled: Bool { state.withLock { $0.isCancelled } }

    /// Something has happened.
    func happened(_ event: Event) {
        let submits = state.withLock { state in
            guard !state.isCancelled else { return false }
            state.pending = state.pending.map { merge($0, event) } ?? event
            defer { state.isHandling = true }
            return !state.isHandling
        }
        if submits { submit() }
    }

    private func submit() {
        queue.add(
            ClosureEntry(queue: queue, level: level, isBarrier: false, onShutdown: onShutdown) { self.handle() })
    }

    private func handle() {
        if let event = state.withLock({ $0.pending.take() }) {
            handler(event)
            handled()
        }
        // Not before the handler has returned: on a concurrent queue the next call would run beside it.
        let isNext = state.withLock { state in
            state.isHandling = state.pending != nil
            return state.isHandling
        }
        if isNext { submit() }
    }

    func cancel() {
        let bodies = state.withLock { state in
            state.isCancelled = true
            state.pending = nil
            defer { state.onCancel = [] }
            return state.onCancel
        }
        queue.core.sources.remove(self)
        for body in bodies { body() }
    }

    func onCancel(_ body: @escaping @Sendable () -> Void) {
        let isCancelled = state.withLock { state in
            if !state.isCancelled { state.onCancel.append(body) }
            return state.isCancelled
        }
        if isCancelled { body() }
    }
}
