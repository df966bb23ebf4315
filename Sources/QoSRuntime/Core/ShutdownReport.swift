/// The outcome of a scheduler's shutdown.
public struct ShutdownReport: Sendable, Hashable {
    /// The names of worker threads whose job did not end in time. They are left behind, and end with their job.
    public let abandonedWorkers: [String]

    /// The names of worker threads that are still in a job with `ShutdownBehavior.continue`. They end with that job.
    public let continuingWorkers: [String]

    /// The error from closing the event loop; `nil` in all but broken environments.
    public let loopFailure: String?

    /// Whether every handle is closed and every thread has ended, except those that are meant to continue.
    public var isClean: Bool { abandonedWorkers.isEmpty && loopFailure == nil }
}
