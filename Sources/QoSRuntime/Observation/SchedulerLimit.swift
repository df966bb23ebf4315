/// A limit of the runtime, or of the system, that a scheduler has reached. Each is reported once for each scheduler: by
/// ``SchedulerEvent/limitReached(_:)`` and in ``SchedulerSnapshot/limitsReached``.
public enum SchedulerLimit: String, Sendable, Hashable, Codable, CaseIterable {
    /// The system refused a thread. The class's other workers do its work, or those of another class. A line on
    /// standard error names the cause and the remedy.
    case threads
    /// 32 workers of a class are known to be blocked. No worker stands in for a further one: await instead of blocking.
    case standIns
    /// The process has 63 other schedulers. A queued task of this one is raised by the loop's next look, and not at
    /// once: use fewer schedulers.
    case schedulers
    /// A class has more than 128 workers. A task that is queued at a later worker is raised by the loop's next look, and
    /// not at once.
    case promotableWorkers
    /// `/proc` does not show the states of threads, so blocked workers are not detected. Mount `/proc`, or declare
    /// blocking by `QoS.withBlocking(_:)`.
    case blockingDetection

    /// The place in a list of limits that another process reads. A new limit is the last.
    package var number: Int {
        switch self {
        case .threads: 0
        case .standIns: 1
        case .schedulers: 2
        case .promotableWorkers: 3
        case .blockingDetection: 4
        }
    }

    /// What it means for the program, and the remedy, in one line.
    package var advice: String {
        switch self {
        case .threads:
            "the system has refused a thread: raise pids.max, TasksMax or ulimit -u; other workers do its work"
        case .standIns: "32 workers of a class were blocked at a time: await instead of blocking in tasks"
        case .schedulers: "the process had more than 63 schedulers, so some promote later: use fewer"
        case .promotableWorkers: "a class had more than 128 workers, so some promote later: use fewer"
        case .blockingDetection:
            "/proc shows no states of threads: mount it, or declare blocking by QoS.withBlocking"
        }
    }
}
