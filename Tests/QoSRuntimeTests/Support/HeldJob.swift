import _Concurrency

/// An executor that keeps the only job given to it, until the test runs it.
// SAFETY: the job is written before the test reads it, and the test runs it once.
final class HeldJob: TaskExecutor, @unchecked Sendable {
    private(set) var job: UnownedJob?

    func enqueue(_ job: UnownedJob) { self.job = job }

    func run() {
        if let job { unsafe job.runSynchronously(on: asUnownedTaskExecutor()) }
    }
}
