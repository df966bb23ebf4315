import QoSCore
import QoSKernel
@_spi(ExperimentalCustomExecutors) @_spi(ExperimentalScheduling) import _Concurrency

// The concurrency library asks such an executor for sleeps.

extension PoolExecutor: SchedulingExecutor {
    var asSchedulingExecutor: (any SchedulingExecutor)? { self }

    func enqueue<C: Clock>(
        _ job: consuming ExecutorJob, at instant: C.Instant, tolerance: C.Duration?, clock: C
    ) {
        enqueue(job, after: clock.now.duration(to: instant), tolerance: tolerance, clock: clock)
    }

    func enqueue<C: Clock>(
        _ job: consuming ExecutorJob, after delay: C.Duration, tolerance: C.Duration?, clock: C
    ) {
        let job = UnownedJob(job)
        guard let delay = delay as? Duration else {
            // The clock has units of its own, so only the clock knows how to wait.
            Task.detached(executorPreference: self) {
                try? await clock.sleep(until: clock.now.advanced(by: delay), tolerance: tolerance)
                self.enqueue(job)
            }
            return
        }
        let now = MonotonicClock.nanoseconds()
        enqueue(
            job, deadline: now.addingSaturating(delay.clampedNanoseconds),
            tolerance: (tolerance as? Duration).map(\.clampedNanoseconds), now: now)
    }
}
