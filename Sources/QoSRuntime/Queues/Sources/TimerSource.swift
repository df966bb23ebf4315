import QoSCore
import QoSKernel

/// Arms a scheduler's timer again and again for a source.
struct TimerSource: Sendable {
    let source: SourceCore<Int>
    let core: SchedulerCore

    /// Nanoseconds; `nil` fires once.
    let interval: UInt64?

    /// Nanoseconds; `nil` leaves it to the source's class.
    let tolerance: UInt64?

    /// Asks for the next firing. Monotonic nanoseconds.
    func arm(deadline: UInt64, now: UInt64) {
        let delay = deadline > now ? deadline - now : 0
        let window = tolerance ?? TimerLeeway.tolerance(of: source.qosClass, delay: delay)
        // The timer keeps neither the scheduler, which keeps the timer, nor a source that has been cancelled.
        core.addTimer(
            deadline: deadline, tolerance: window,
            .body { [weak source, interval, tolerance, unowned core] in
                guard let source else { return }
                TimerSource(source: source, core: core, interval: interval, tolerance: tolerance).fired(
                    deadline: deadline)
            })
    }

    /// The loop's thread.
    private func fired(deadline: UInt64) {
        guard !source.isCancelled else { return }
        guard let interval else {
            source.happened(1)
            return
        }
        let now = MonotonicClock.nanoseconds()
        // Deadlines that have passed meanwhile count as firings, and are not made up for one by one.
        let passed = now > deadline ? (now - deadline) / interval : 0
        source.happened(Int(clamping: passed + 1))
        let (offset, overflows) = (passed + 1).multipliedReportingOverflow(by: interval)
        if !overflows { arm(deadline: deadline.addingSaturating(offset), now: now) }
    }
}
