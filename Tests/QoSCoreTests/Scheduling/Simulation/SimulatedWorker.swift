import QoSCore

/// A worker that admission counts, or that is blocked in a job.
struct SimulatedWorker {
    enum State: Equatable {
        /// Admitted, on its way to its first job.
        case waking(until: Int64)
        /// In a job; it gets a core or a leak, as the kernel model decides.
        case inJob
        /// In a job that waits in the kernel.
        case blocked(until: Int64)
    }

    /// The class of the pool it belongs to.
    let home: QoSClass
    /// The class it is counted in and that the kernel sees: its own or, until the end of the job, a higher one.
    var counted: QoSClass
    var state: State
    /// The job it is in.
    var job = JobQueue.Job(arrived: 0, length: 0)
    /// CPU time left in the job, in nanoseconds times the leak divisor.
    var remaining: Int64 = 0
    /// Whether the kernel model gives it a core.
    var hasCore = false
    /// The fences that its job holds.
    var fences: [FenceID] = []

    var isWaking: Bool {
        if case .waking = state { return true }
        return false
    }

    var isBlocked: Bool {
        if case .blocked = state { return true }
        return false
    }
}
