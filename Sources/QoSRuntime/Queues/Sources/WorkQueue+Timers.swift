public import QoSCore

extension WorkQueue {
    /// Makes a timer whose handler runs on the queue, detached (rule B10).
    ///
    /// It never fires early. Firings that the handler did not come to are merged: its next call says how many they were.
    ///
    /// - Parameters:
    ///   - delay: until it fires first; 0 or less fires at once.
    ///   - interval: between firings, counted from the first deadline, so that no lateness adds up; `nil` fires once. At least
    ///     a microsecond; less is taken for that.
    ///   - tolerance: how much later it may fire; `nil` leaves it to the level's class (rule S6).
    ///   - level: the handler's own level.
    ///   - onShutdown: what becomes of a call of the handler that waits when the scheduler is shut down; the timer itself ends then.
    ///   - handler: gets the number of firings since its last call.
    public func makeTimer(
        after delay: Duration, repeating interval: Duration? = nil, tolerance: Duration? = nil, level: QoSLevel? = nil,
        onShutdown: ShutdownBehavior? = nil, handler: @escaping @Sendable (Int) -> Void
    ) -> WorkSource {
        timer(
            TimerCourse(after: delay, repeating: interval, tolerance: tolerance), level, onShutdown, .handler(handler))
    }

    /// The firings of a timer, as ``makeTimer(after:repeating:tolerance:level:onShutdown:handler:)`` makes it, to be awaited.
    ///
    /// The timer ends with the loop that awaits it. Firings beside a slow loop are merged: its next element counts them.
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
                // A sequence of one firing ends with it.
                if case .stream = receiver, course.interval == nil { source.cancel() }
            })
        source.onCancel { [unowned source] in timer.cancel(source) }
        defer { timer.set(course, for: source) }
        return WorkSource(source)
    }
}
