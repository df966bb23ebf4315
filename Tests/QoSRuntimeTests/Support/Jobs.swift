import QoSCore
import _Concurrency

/// Jobs that a test can hand to an executor synchronously.
enum Jobs {
    /// A job of a class that runs a body. It must be run, or it leaks.
    static func make(_ qosClass: QoSClass, _ body: @escaping @Sendable () -> Void) -> UnownedJob {
        UnownedJob(_swift_createJobForTestingOnly(priority: qosClass.taskPriority, body))
    }

    /// Runs a job on the calling thread.
    static func run(_ job: UnownedJob) {
        let executor = Immediate()
        unsafe job.runSynchronously(on: executor.asUnownedTaskExecutor())
        withExtendedLifetime(executor) {}
    }

    private final class Immediate: TaskExecutor {
        func enqueue(_ job: UnownedJob) {
            unsafe job.runSynchronously(on: asUnownedTaskExecutor())
        }
    }
}
