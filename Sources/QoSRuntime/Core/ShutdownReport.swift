/// How a scheduler ended.
public struct ShutdownReport: Sendable, Hashable {
    /// The names of worker threads whose job did not come to an end in time. They are left behind and end with it.
    public let abandonedWorkers: [String]

    /// The names of worker threads that are still in a job which declared `ShutdownBehavior.continue`. They end with it.
    public let continuingWorkers: [String]

    /// What went wrong when the event loop closed; `nil` in all but broken environments.
    public let loopFailure: String?

    /// Whether every thread is gone, but those that are to go on, and every handle closed.
    public var isClean: Bool { abandonedWorkers.isEmpty && loopFailure == nil }
}
