/// An executor that gives each job to the process's default executor.
///
/// A task that prefers it leaves its thread for certain: the concurrency library suspends the task before it asks an
/// executor of another identity. A yield is not certain, since its continuation may be resumed before the task has
/// suspended. A preference for ``globalConcurrentExecutor`` is nothing, for a task that prefers no executor.
///
/// Threading: any thread.
final class ForwardingExecutor: TaskExecutor {
    static let shared = ForwardingExecutor()

    func enqueue(_ job: UnownedJob) {
        globalConcurrentExecutor.enqueue(job)
    }
}
