import QoSKernel

/// Brings events to a handler on a queue, from its creation until it is cancelled or released.
///
/// Handlers are detached (rule B10): they run at the queue's level, or at the level given when the source was made, with
/// no context and no task-local values of the code that made the source.
/// Calls follow one another. Events before the handler has run are merged into its next call. After the scheduler's end
/// no more events come.
///
/// Threading: any thread.
public final class WorkSource: Sendable {
    private let core: any CancellableSource

    /// Whether the release of this object ends the source.
    private let isOwner: Bool

    /// - Parameter core: its scheduler keeps it from now on.
    init(_ core: some CancellableSource) {
        self.core = core
        isOwner = true
        core.scheduler.sources.add(core)
    }

    private init(running core: any CancellableSource) {
        self.core = core
        isOwner = false
    }

    deinit {
        if isOwner { core.cancel() }
    }

    /// The source whose handler the calling thread runs; `nil` outside of handlers.
    ///
    /// ```swift
    /// let timer = queue.makeTimer(after: .zero, repeating: .seconds(1)) { _ in
    ///     if isDone() { WorkSource.current?.cancel() }
    /// }
    /// ```
    ///
    /// The value does not extend the source's life.
    public static var current: WorkSource? {
        SourceEntry.currentSource.map { WorkSource(running: $0) }
    }

    /// Ends the source. No call of the handler begins after the return. A call that has begun continues.
    public func cancel() {
        core.cancel()
    }

    /// Whether the source has ended.
    public var isCancelled: Bool { core.isCancelled }

    /// Prevents further calls of the handler until ``resume()`` was called as often as this. A call that has begun goes
    /// on.
    ///
    /// Meanwhile events are merged, and the deadlines of a timer are counted.
    public func suspend() {
        core.suspend()
    }

    /// Takes back one ``suspend()``.
    ///
    /// - Throws: ``WorkQueueError/sourceNotSuspended``.
    public func resume() throws(WorkQueueError) {
        guard core.resume() else { throw .sourceNotSuspended }
    }

    /// Sets a timer anew, even one that has fired. Firings for which its handler was not called are dropped.
    ///
    /// - Parameters:
    ///   - delay: the time until the first firing; 0 or less fires at once.
    ///   - interval: the time between firings; `nil` fires once. At least a microsecond; a smaller interval counts as
    ///     one.
    ///   - tolerance: how much later the timer may fire; `nil` leaves it to the level's class (rule S6).
    /// - Throws: ``WorkQueueError/sourceIsNoTimer``.
    public func schedule(
        after delay: Duration, repeating interval: Duration? = nil, tolerance: Duration? = nil
    ) throws(WorkQueueError) {
        guard let source = core as? SourceCore<Int>, let timer = source.timer else { throw .sourceIsNoTimer }
        source.forget()
        timer.set(TimerCourse(after: delay, repeating: interval, tolerance: tolerance), for: source)
    }

    /// Runs a closure at the source's end, or at that of its scheduler.
    func onCancel(_ body: @escaping @Sendable () -> Void) {
        core.onCancel(body)
    }
}

extension TimerCourse {
    /// Makes the deadlines from now on.
    init(after delay: Duration, repeating interval: Duration?, tolerance: Duration?) {
        self.init(
            first: MonotonicClock.nanoseconds().addingSaturating(delay.clampedNanoseconds),
            interval: interval.map { max(1_000, $0.clampedNanoseconds) }, tolerance: tolerance?.clampedNanoseconds)
    }
}
