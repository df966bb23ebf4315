import QoSCore
import QoSKernel

/// An executor with a thread of its own, for a task that no other work may keep waiting.
///
/// The pools of a scheduler run what is most urgent, and so much of it that a further task of the same class waits.
/// A task on this executor waits for nothing but its own jobs: its jobs and its sleeps use no worker. The thread has
/// the kernel effects of userInteractive, and sleeps while it has no job. It starts with the first job.
///
/// Threading: any thread submits. One thread runs the jobs, one after the other.
package final class ThreadExecutor: SleepingExecutor {
    private struct Sleeper {
        /// The time at which the job is ready: of ``MonotonicClock``, with ``SuspendedTime`` if it is continuous.
        let time: UInt64
        /// Whether the time in which the machine is suspended counts.
        let isContinuous: Bool
        let job: UnownedJob

        /// The nanoseconds from now until it is ready.
        func rest(_ now: UInt64, suspended: UInt64) -> UInt64 {
            time - min(time, isContinuous ? now.addingSaturating(suspended) : now)
        }
    }

    private struct State {
        var ready: [UnownedJob] = []
        var sleeping: [Sleeper] = []
        var hasThread = false
        var hasEnded = false
    }

    /// The longest sleep of the thread while a continuous sleeper waits: no wait of the kernel's monotonic clock ends
    /// when the machine comes back.
    private static let longestPark: UInt64 = 5_000_000_000

    private let name: String
    private let state = Lock(State())
    private let parker = Parker()

    /// Makes an executor.
    ///
    /// - Parameter name: the name of its thread; tools show the first 15 bytes.
    package init(name: String) {
        self.name = name
    }

    /// Ends the thread once it has run the jobs that are ready. Later jobs, and those that sleep, go to the process's
    /// default executor.
    package func end() {
        state.withLock { $0.hasEnded = true }
        parker.unpark()
    }

    /// Submits a job.
    package func enqueue(_ job: UnownedJob) {
        let (isKept, starts) = state.withLock { state in
            if state.hasEnded { return (false, false) }
            state.ready.append(job)
            defer { state.hasThread = true }
            return (true, !state.hasThread)
        }
        guard isKept else { return globalConcurrentExecutor.enqueue(job) }
        if starts { start() } else { parker.unpark() }
    }

    /// Submits a job once a time has passed. The tolerance is not used: few jobs sleep here.
    package func enqueue(_ job: UnownedJob, after delay: Duration, tolerance: Duration?, isContinuous: Bool) {
        let suspended = isContinuous ? SuspendedTime.nanoseconds() : 0
        let time = MonotonicClock.nanoseconds().addingSaturating(suspended)
            .addingSaturating(delay.clampedNanoseconds)
        let (isKept, starts) = state.withLock { state in
            if state.hasEnded { return (false, false) }
            state.sleeping.append(Sleeper(time: time, isContinuous: isContinuous, job: job))
            defer { state.hasThread = true }
            return (true, !state.hasThread)
        }
        guard isKept else { return Self.forward(job, after: delay.clampedNanoseconds) }
        // The thread looks at its sleepers before it parks.
        if starts { start() } else { parker.unpark() }
    }

    private func start() {
        do throws(QoSThreadError) {
            try QoSThread(name: name, level: .userInteractive) { [self] in run() }.start()
        } catch {
            // The system has no further thread. The jobs run, but not on their own. The next one tries again.
            forwardAll(ends: false)
        }
    }

    private func run() {
        while true {
            let (now, suspended) = (MonotonicClock.nanoseconds(), SuspendedTime.nanoseconds())
            let (jobs, due, rest, hasEnded) = state.withLock { state -> ([UnownedJob], [Sleeper], UInt64?, Bool) in
                defer { state.ready = [] }
                let due = state.sleeping.filter { $0.rest(now, suspended: suspended) == 0 }
                if !due.isEmpty { state.sleeping.removeAll { $0.rest(now, suspended: suspended) == 0 } }
                let rest = state.sleeping.map { sleeper in
                    let rest = sleeper.rest(now, suspended: suspended)
                    return sleeper.isContinuous ? min(rest, Self.longestPark) : rest
                }.min()
                return (state.ready, due, rest, state.hasEnded)
            }
            for job in jobs { run(job) }
            for sleeper in due.sorted(by: { $0.time < $1.time }) {
                ConcurrencyRuntime.delayEnded(sleeper.job) { run($0) }
            }
            guard jobs.isEmpty, due.isEmpty else { continue }
            if hasEnded { return forwardAll(ends: true) }
            if let rest { _ = parker.park(untilNanoseconds: now.addingSaturating(rest)) } else { parker.park() }
        }
    }

    private func run(_ job: UnownedJob) { unsafe job.runSynchronously(on: asUnownedTaskExecutor()) }

    /// Gives all jobs to the process's default executor: those that sleep when their time has come.
    ///
    /// - Parameter ends: whether later jobs go there, too.
    private func forwardAll(ends: Bool) {
        let (jobs, sleepers) = state.withLock { state in
            state.hasEnded = state.hasEnded || ends
            state.hasThread = false
            defer { (state.ready, state.sleeping) = ([], []) }
            return (state.ready, state.sleeping)
        }
        for job in jobs { globalConcurrentExecutor.enqueue(job) }
        let (now, suspended) = (MonotonicClock.nanoseconds(), SuspendedTime.nanoseconds())
        for sleeper in sleepers { Self.forward(sleeper.job, after: sleeper.rest(now, suspended: suspended)) }
    }

    private static func forward(_ job: UnownedJob, after nanoseconds: UInt64) {
        // A task without this executor: its sleep is the default executor's.
        Task.detached(name: "thread-executor-sleep", priority: .high) {
            try? await Task.sleep(for: .nanoseconds(Int64(clamping: nanoseconds)))
            globalConcurrentExecutor.enqueue(job)
        }
    }
}
