import QoSKernel

/// Brings events to a handler on a queue, from when it is made until it is cancelled or released.
///
/// Handlers are detached (rule B10): they run at the queue's level, or at the one that the source was made with. Calls follow
/// one another; what happens before the handler has run is merged into its next call. With the scheduler's end no more
/// events come.
///
/// Threading: any thread.
public final class WorkSource: Sendable {
    private let core: any CancellableSource

    /// Whether the release of this object ends the source.
    private let isOwner: Bool

    /// - Parameter core: begins to be kept by its scheduler.
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
    /// The source does not live longer for it.
    public static var current: WorkSource? {
        SourceEntry.currentSource.map { WorkSource(running: $0) }
    }

    /// Ends the source: no call of the handler begins after this returned; one that has begun goes on.
    public func cancel() {
        core.cancel()
    }

    /// Whether the source has ended.
    public var isCancelled: Bool { core.isCancelled }

    /// Lets no further call of the handler begin until ``resume()``, as often as this was called. A call that has begun goes on.
    ///
    /// Events are merged meanwhile; the deadlines of a timer are counted.
    public func suspend() {
        core.suspend()
    }

    /// Takes one ``suspend()`` back.
    ///
    /// - Throws: ``WorkQueueError/sourceNotSuspended``.
    public func resume() throws(WorkQueueError) {
        guard core.resume() else { throw .sourceNotSuspended }
    }

    /// Sets a timer anew, also one that has fired. Firings that its handler was not called for are dropped.
    ///
    /// - Parameters:
    ///   - delay: until the timer fires first; 0 or less fires at once.
    ///   - interval: between firings; `nil` fires once. At least a microsecond; less is taken for that.
    ///   - tolerance: how much later the timer may fire; `nil` leaves it to the level's class (rule S6).
    /// - Throws: ``WorkQueueError/sourceIsNoTimer``.
    public func schedule(
        after delay: Duration, repeating interval: Duration? = nil, tolerance: Duration? = nil
    ) throws(WorkQueueError) {
        guard let source = core as? SourceCore<Int>, let timer = source.timer else { throw .sourceIsNoTimer }
        source.forget()
        timer.set(TimerCourse(after: delay, repeating: interval, tolerance: tolerance), for: source)
    }

    /// Does something at the source's end, also at that of its scheduler.
    func onCancel(_ body: @escaping @Sendable () -> Void) {
        core.onCancel(body)
    }
}

extension TimerCourse {
    /// The deadlines from now on.
    init(after delay: Duration, repeating interval: Duration?, tolerance: Duration?) {
        self.init(
            first: MonotonicClock.nanoseconds().addingSaturating(delay.clampedNanoseconds),
            interval: interval.map { max(1_000, $0.clampedNanoseconds) }, tolerance: tolerance?.clampedNanoseconds)
    }
}
