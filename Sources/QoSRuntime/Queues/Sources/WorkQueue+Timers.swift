public import QoSCore

extension WorkQueue {
    /// Makes a timer whose handler runs on the queue, detached (rule B10).
    ///
    /// It never fires early. Firings during a slow handler are merged: its next call gets their number.
    ///
    /// - Parameters:
    ///   - delay: the time until the first firing; 0 or less fires at once.
    ///   - interval: the time between firings, counted from the first deadline, so no lateness adds up; `nil` fires
    ///     once. At least a microsecond; a smaller interval counts as one.
    ///   - tolerance: how much later the timer may fire; `nil` leaves it to the level's class (rule S6).
    ///   - level: the handler's own level.
    ///   - onShutdown: what happens to a waiting call of the handler when the scheduler is shut down. The timer itself
    ///     ends then.
    ///   - handler: gets the number of firings since its last call.
    public func makeTimer(
        after delay: Duration, repeating interval: Duration? = nil, tolerance: Duration? = nil, level: QoSLevel? = nil,
        onShutdown: ShutdownBehavior? = nil, handler: @escaping @Sendable (Int) -> Void
    ) -> WorkSource {
        timer(
            TimerCourse(after: delay, repeating: interval, tolerance: tolerance), level, onShutdown, .handler(handler))
    }

    /// Returns the firings of a timer as a sequence. ``makeTimer(after:repeating:tolerance:level:onShutdown:handler:)``
    /// describes the timer.
    ///
    /// The timer ends with the loop that awaits it. If the loop is slow, firings are merged: its next element counts
    /// them.
    public func timerEvents(
        after delay: Duration, repeating interval: Duration? = nil, tolerance: Duration? = nil, level: QoSLevel? = nil
    ) -> AsyncStream<Int> {
        let buffer = EventBuffer<Int>()
        let source = timer(
            TimerCourse(after: delay, repeating: interval, tolerance: tolerance), level, nil, .stream(buffer))
        return buffer.stream(of: source)
    }

    private func timer(
        _ course: TimerCourse, _ level: QoSLevel?, _ onShutdown: ShutdownBehavior?,
        _ receiver: SourceCore<Int>.Receiver
    ) -> WorkSource {
        let timer = TimerSource()
        let source = SourceCore<Int>(
            queue: core, level: level, onShutdown: onShutdown, timer: timer, receiver: receiver, merge: +,
            unsaid: timer.passed,
            handled: { source, _ in
                timer.handled(by: source)
                // A sequence of one firing ends with that firing.
                if case .stream = receiver, course.interval == nil { source.cancel() }
            })
        source.onCancel { [unowned source] in timer.cancel(source) }
        defer { timer.set(course, for: source) }
        return WorkSource(source)
    }
}
