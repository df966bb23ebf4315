import QoSCore
import QoSKernel

/// Brings the firings of a timer to a source.
///
/// A timer has at most one deadline in the scheduler's timers. The next one follows when the handler has returned, so a
/// slow or suspended handler costs nothing. When the source calls the handler, it counts the deadlines that passed
/// meanwhile.
///
/// Threading: any thread.
final class TimerSource: Sendable {
    private struct State {
        var course: TimerCourse?

        /// The ticket of the timer in the scheduler; `nil` from the firing until the handler has returned.
        var ticket: TimerTicket?

        /// The number of settings so far. A firing for an earlier setting does not count.
        var setting = 0
        var isCancelled = false
    }

    private let state = Lock(State())

    /// Sets the timer, instead of the earlier setting.
    func set(_ course: TimerCourse, for source: SourceCore<Int>) {
        let (old, isCancelled) = state.withLock { state in
            state.course = course
            state.setting += 1
            return (state.ticket.take(), state.isCancelled)
        }
        if let old { source.scheduler.cancelTimer(old) }
        if !isCancelled { arm(source) }
    }

    /// Returns the number of deadlines that have passed since the firing; `nil` for none.
    func passed() -> Int? {
        let count = state.withLock { state in
            state.ticket == nil ? state.course?.take(now: MonotonicClock.nanoseconds()) ?? 0 : 0
        }
        return count > 0 ? count : nil
    }

    /// Sets the next firing after the handler has returned.
    func handled(by source: SourceCore<Int>) {
        if !source.scheduler.sources.timersHaveEnded { arm(source) }
    }

    func cancel(_ source: SourceCore<Int>) {
        let ticket = state.withLock { state in
            state.isCancelled = true
            return state.ticket.take()
        }
        if let ticket { source.scheduler.cancelTimer(ticket) }
    }

    /// Asks the scheduler for the next firing. Fires at once if the window has ended already.
    private func arm(_ source: SourceCore<Int>) {
        let now = MonotonicClock.nanoseconds()
        var count = 0
        let armed: (window: TimerWindow, ticket: TimerTicket)? = state.withLock { state in
            guard !state.isCancelled, state.ticket == nil,
                let window = state.course?.window(now: now, of: source.qosClass)
            else { return nil }
            if window.end <= now {
                count = state.course?.take(now: now) ?? 0
                return nil
            }
            let ticket = TimerTicket(.body { [self, setting = state.setting] in fired(setting, source) })
            state.ticket = ticket
            return (window, ticket)
        }
        if count > 0 { source.happened(count) }
        // A ticket that is cancelled before the scheduler gets it has no effect there.
        if let armed { source.scheduler.addTimer(armed.window, .ticket(armed.ticket)) }
    }

    /// Runs on the loop's thread.
    private func fired(_ setting: Int, _ source: SourceCore<Int>) {
        let count = state.withLock { state in
            guard state.setting == setting else { return 0 }
            state.ticket = nil
            return state.course?.take(now: MonotonicClock.nanoseconds()) ?? 0
        }
        if count > 0 { source.happened(count) }
    }
}
