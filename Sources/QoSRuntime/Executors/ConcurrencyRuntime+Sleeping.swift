@_spi(ExperimentalCustomExecutors) @_spi(ExperimentalScheduling) import _Concurrency

/// A task executor that keeps the time of its tasks' sleeps.
///
/// The concurrency library asks the executor of a task for its sleeps if the executor conforms to `SchedulingExecutor`.
/// That protocol is generic over clocks. An executor of this kind sees durations only.
package protocol SleepingExecutor: TaskExecutor, SchedulingExecutor {
    /// Submits a job once a time has passed.
    ///
    /// - Parameters:
    ///   - delay: the time to wait, which may be negative.
    ///   - tolerance: the time by which the job may come later; `nil` uses the tolerance of the waiting task's class
    ///     (rule S6).
    ///   - isContinuous: whether the time in which the machine is suspended counts, as with every clock but
    ///     `SuspendingClock`.
    func enqueue(_ job: UnownedJob, after delay: Duration, tolerance: Duration?, isContinuous: Bool)
}

extension SleepingExecutor {
    package var asSchedulingExecutor: (any SchedulingExecutor)? { self }

    package func enqueue<C: Clock>(
        _ job: consuming ExecutorJob, at instant: C.Instant, tolerance: C.Duration?, clock: C
    ) {
        enqueue(job, after: clock.now.duration(to: instant), tolerance: tolerance, clock: clock)
    }

    package func enqueue<C: Clock>(
        _ job: consuming ExecutorJob, after delay: C.Duration, tolerance: C.Duration?, clock: C
    ) {
        let job = UnownedJob(job)
        if let delay = delay as? Duration {
            return enqueue(
                job, after: delay, tolerance: tolerance as? Duration, isContinuous: C.self != SuspendingClock.self)
        }
        // The clock has units of its own, so only the clock knows how to wait.
        Task.detached(executorPreference: self) {
            try? await clock.sleep(until: clock.now.advanced(by: delay), tolerance: tolerance)
            self.enqueue(job)
        }
    }
}
