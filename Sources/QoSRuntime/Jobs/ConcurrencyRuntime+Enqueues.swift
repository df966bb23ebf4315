import CQoSShims
@_spi(ExperimentalCustomExecutors) @_spi(ExperimentalScheduling) import _Concurrency

// A job without an executor of its own goes to the process's default executor. The library asks a hook first. Tests of
// code that is not written for executors use it.
//
// On Swift 6.3 the neighbours of this hook, for the main actor and for delays, are never called.

extension ConcurrencyRuntime {
    /// Asks a function about each job that is given to the process's default executor from now on. Only the first call
    /// has an effect, and it lasts as long as the process.
    ///
    /// - Parameter takes: gets the job's address for ``job(at:)``, on the submitting thread, and returns whether it has
    ///   taken the job.
    package static func watchEnqueues(_ takes: @convention(c) (UnsafeMutableRawPointer) -> Bool) {
        unsafe cqos_watch_enqueues(takes)
    }

    /// Returns the job of an address that a watch was given.
    package static func job(at address: UnsafeMutableRawPointer) -> UnownedJob {
        JobNode(address: UInt(bitPattern: address)).job
    }

    /// Returns the number of a task that is queued: the higher, the later it was made. For a job that is no task, the
    /// number says nothing.
    @_silgen_name("swift_task_getJobTaskId")
    package static func number(of job: UnownedJob) -> UInt64

    /// Returns the number of the latest task of the process, by making one that does nothing.
    package static func numberOfLatestTask() -> UInt64 {
        let task = Task.detached(executorPreference: Immediate()) {}
        return number(of: node(of: task).job)
    }
}
