package import QoSCore

/// A worker that admission counts, or that is blocked in a job.
package struct SimulatedWorker: Sendable {
    package enum State: Sendable, Equatable {
        /// Admitted, on its way to its first job.
        case waking(until: Int64)
        /// In a job; it gets a core or a leak, as the kernel model decides.
        case inJob
        /// In a job that waits in the kernel.
        case blocked(until: Int64)
    }

    /// The class of the pool it belongs to.
    package let home: QoSClass
    /// The class it is counted in and that the kernel sees: its own or, until the end of the job, a higher one.
    package var counted: QoSClass
    package var state: State
    /// The job it is in.
    package var job = JobQueue.Job(arrived: 0, length: 0)
    /// CPU time left in the job, in nanoseconds times the leak divisor.
    package var remaining: Int64 = 0
    /// Whether the kernel model gives it a core.
    package var hasCore = false
    /// The fences that its job holds.
    package var fences: [FenceID] = []

    package var isWaking: Bool {
        if case .waking = state { return true }
        return false
    }

    package var isBlocked: Bool {
        if case .blocked = state { return true }
        return false
    }
}
