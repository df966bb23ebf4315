/// The actions of a driver after an event: a few bytes, no allocation.
package struct AdmissionActions: Sendable, Hashable {
    /// The classes of which the driver wakes (or makes) one worker each. The worker is already counted as running. If
    /// it finds no job, it reports that it went idle. If it finds more than one, it asks for another worker.
    package var admit: QoSClassSet

    /// The classes whose workers must ask before they take their next job, to be published to the workers. All other
    /// workers take it without asking.
    package var mustAsk: QoSClassSet

    /// The classes that have already asked for another worker, to be published to submitters. No submitter needs to ask
    /// again.
    package var waiting: QoSClassSet

    /// The time of the next tick, unless another event comes first; `nil`: time changes nothing.
    package var lookAgainAt: SchedulerInstant?

    /// Makes actions. Without arguments, there is nothing to do.
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

/// The verdict for a worker that asked.
package enum WorkerVerdict: Sendable, Hashable {
    /// Take the next job.
    case take
    /// Park until the class is admitted again. The worker is no longer counted.
    case park
}
