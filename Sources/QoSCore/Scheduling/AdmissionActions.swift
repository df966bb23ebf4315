/// What a driver has to do after an event: a few bytes, no allocation.
package struct AdmissionActions: Sendable, Hashable {
    /// Wake (or make) one worker of each of these classes. It is counted as running already: when it finds no job it
    /// reports that it went idle, and when it finds more than one it asks for another worker.
    package var admit: QoSClassSet

    /// Publish these to the workers: a worker whose class is a member asks before it takes its next job, any other
    /// takes it without asking.
    package var mustAsk: QoSClassSet

    /// Publish these to whoever enqueues: a class that is a member has asked for another worker already, so it need
    /// not be asked for again.
    package var waiting: QoSClassSet

    /// Report the passage of time at this instant, unless another event comes first; `nil`: time changes nothing.
    package var lookAgainAt: SchedulerInstant?

    /// Makes actions; without arguments: nothing to do.
    package init(
        admit: QoSClassSet = [], mustAsk: QoSClassSet = [], waiting: QoSClassSet = [],
        lookAgainAt: SchedulerInstant? = nil
    ) {
        self.admit = admit
        self.mustAsk = mustAsk
        self.waiting = waiting
        self.lookAgainAt = lookAgainAt
    }
}

/// What a worker that asked does.
package enum WorkerVerdict: Sendable, Hashable {
    /// Take the next job.
    case take
    /// Park until the class is admitted again. The worker is no longer counted.
    case park
}
