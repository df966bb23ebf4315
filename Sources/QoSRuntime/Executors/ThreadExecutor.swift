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
    private struct State {
        var ready: [UnownedJob] = []
        /// Sleeping jobs, by the time of ``MonotonicClock`` at which they are ready; the first one last.
        var sleeping: [(time: UInt64, job: UnownedJob)] = []
        var hasThread = false
        var hasEnded = false
    }

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
        let time = MonotonicClock.nanoseconds().addingSaturating(delay.clampedNanoseconds)
        let isKept = state.withLock { state in
            if state.hasEnded { return false }
            let place = state.sleeping.firstIndex { $0.time <= time } ?? state.sleeping.endIndex
            state.sleeping.insert((time, job), at: place)
            return true
        }
        // A job of this executor asks for the sleep, so the thread is there. It looks at its sleepers before it parks.
        if isKept { parker.unpark() } else { enqueue(job) }
    }

    private func start() {
        do throws(QoSThreadError) {
            try QoSThread(name: name, level: .userInteractive) { [self] in run() }.start()
        } catch {
            // The system has no further thread. The jobs run, but not on their own.
            forwardAll()
        }
    }

    private func run() {
        while true {
            let now = MonotonicClock.nanoseconds()
            let (jobs, due, next, hasEnded) = state.withLock { state in
                let jobs = state.ready
                state.ready = []
                var due: [UnownedJob] = []
                while let first = state.sleeping.last, first.time <= now {
                    state.sleeping.removeLast()
                    due.append(first.job)
                }
                return (jobs, due, state.sleeping.last?.time, state.hasEnded)
            }
            for job in jobs { run(job) }
            for job in due { ConcurrencyRuntime.delayEnded(job) { run($0) } }
            guard jobs.isEmpty, due.isEmpty else { continue }
            if hasEnded { return forwardAll() }
            if let next { _ = parker.park(untilNanoseconds: next) } else { parker.park() }
        }
    }

    private func run(_ job: UnownedJob) { unsafe job.runSynchronously(on: asUnownedTaskExecutor()) }

    /// Gives all jobs to the process's default executor, also later ones.
    private func forwardAll() {
        let jobs = state.withLock { state in
            state.hasEnded = true
            defer { (state.ready, state.sleeping) = ([], []) }
            return state.ready + state.sleeping.map(\.job)
        }
        for job in jobs { globalConcurrentExecutor.enqueue(job) }
    }
}
