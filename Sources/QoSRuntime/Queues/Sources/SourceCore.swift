import QoSCore
import QoSKernel

/// Brings events to a handler on a queue, one call at a time. Events before the handler has run are merged into one
/// call.
///
/// Handlers are detached (rule B10). Threading: any thread.
final class SourceCore<Event: Sendable>: CancellableSource {
    /// The receiver of a source's events.
    enum Receiver: Sendable {
        /// A closure, called on the queue.
        case handler(@Sendable (Event) -> Void)
        /// A task. An event counts as handled when the task takes it.
        case stream(EventBuffer<Event>)
    }

    private struct State {
        var pending: Event?

        /// True from the submission of a call of the handler until the event has been handled.
        var isHandling = false
        var suspensions = 0
        var isCancelled = false
        var onCancel: [@Sendable () -> Void] = []

        /// Returns whether to submit a call of the handler. The call then counts as begun.
        mutating func begins() -> Bool {
            guard pending != nil, !isHandling, suspensions == 0 else { return false }
            isHandling = true
            return true
        }
    }

    private let queue: QueueCore
    private let level: LevelCode
    private let onShutdown: ShutdownBehavior?
    private let merge: @Sendable (Event, Event) -> Event
    private let receiver: Receiver
    private let state = Lock(State())

    /// The timer of a timer's source; `nil` for other sources.
    let timer: TimerSource?

    /// Asked before each call of the handler for events that ``happened(_:)`` was not told.
    private let unsaid: @Sendable () -> Event?

    /// Called when an event has been handled.
    private let handled: @Sendable (SourceCore, Event) -> Void

    /// - Parameters:
    ///   - merge: merges two events into one.
    ///   - unsaid: asked before each call of the handler for events that ``happened(_:)`` was not told.
    ///   - handled: called after each call of the handler, on the thread that ended it.
    init(
        queue: QueueCore, level: QoSLevel?, onShutdown: ShutdownBehavior? = nil, timer: TimerSource? = nil,
        receiver: Receiver, merge: @escaping @Sendable (Event, Event) -> Event,
        unsaid: @escaping @Sendable () -> Event? = { nil },
        handled: @escaping @Sendable (SourceCore, Event) -> Void = { _, _ in }
    ) {
        self.queue = queue
        self.level = queue.detachedLevel(level, [])
        self.onShutdown = onShutdown
        self.timer = timer
        self.receiver = receiver
        self.merge = merge
        self.unsaid = unsaid
        self.handled = handled
    }

    var scheduler: SchedulerCore { queue.core }

    /// The class that a timer's tolerance is taken from.
    var qosClass: QoSClass { QoSClass(atRank: level.rank) }

    var isCancelled: Bool { state.withLock { $0.isCancelled } }

    // MARK: Events

    /// Notes an event.
    func happened(_ event: Event) {
        let submits = state.withLock { state in
            guard !state.isCancelled else { return false }
            state.pending = state.pending.map { merge($0, event) } ?? event
            return state.begins()
        }
        if submits { submit() }
    }

    private func submit() {
        queue.add(SourceEntry(self, queue: queue, level: level, onShutdown: onShutdown))
    }

    /// Gives the events to the receiver. In the queue's turn.
    func handle() {
        let event = state.withLock { $0.suspensions == 0 ? $0.pending.take() : nil }
        guard let event else { return ended() }
        let all = unsaid().map { merge(event, $0) } ?? event
        switch receiver {
        case .handler(let handler):
            handler(all)
            handled(self, all)
            ended()
        case .stream(let buffer):
            buffer.put(all) { [self] in
                handled(self, all)
                ended()
            }
        }
    }

    /// Ends the handling of an event. Not earlier: on a concurrent queue the next call would run beside it.
    private func ended() {
        let isNext = state.withLock { state in
            state.isHandling = false
            return state.begins()
        }
        if isNext { submit() }
    }

    /// Drops the events for which the handler was not called yet.
    func forget() {
        state.withLock { $0.pending = nil }
    }

    // MARK: Suspension and end

    func suspend() {
        state.withLock { $0.suspensions += 1 }
    }

    func resume() -> Bool {
        let (wasSuspended, isNext) = state.withLock { state in
            guard state.suspensions > 0 else { return (false, false) }
            state.suspensions -= 1
            return (true, state.begins())
        }
        if isNext { submit() }
        return wasSuspended
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
