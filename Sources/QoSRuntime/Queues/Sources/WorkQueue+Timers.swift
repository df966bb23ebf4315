public import QoSCore
import QoSKernel

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
        let source = SourceCore<Int>(
            queue: core, level: level, onShutdown: onShutdown, merge: { $0 + $1 }, handler: handler)
        let now = MonotonicClock.nanoseconds()
        let timer = TimerSource(
            source: source, core: core.core, interval: interval.map { max(1_000, $0.clampedNanoseconds) },
            tolerance: tolerance?.clampedNanoseconds)
        timer.arm(deadline: now.addingSaturating(delay.clampedNanoseconds), now: now)
        return WorkSource(source, of: core.core)
    }

    /// The firings of a timer, as ``makeTimer(after:repeating:tolerance:level:onShutdown:handler:)`` makes it, to be awaited.
    ///
    /// The timer ends with the loop that awaits it.
    public func timerEvents(
        after delay: Duration, repeating interval: Duration? = nil, tolerance: Duration? = nil, level: QoSLevel? = nil
    ) -> AsyncStream<Int> {
        AsyncStream { continuation in
            let source = makeTimer(after: delay, repeating: interval, tolerance: tolerance, level: level) { count in
                continuation.yield(count)
                if interval == nil { continuation.finish() }
            }
            source.onCancel { continuation.finish() }
            continuation.onTermination = { _ in source.cancel() }
        }
    }
}
