/// A run in virtual time that cannot continue.
public enum DeterministicSchedulerError: Error, Sendable, Hashable {
    /// Jobs follow each other without end, and none of them takes time.
    case timeStandsStill(at: VirtualClock.Instant)
    /// The operation has not ended, and nothing is left to do.
    case stalled(at: VirtualClock.Instant)
    /// Another thread runs the scheduler, or one of its own jobs asked for a run.
    case alreadyRuns
    /// Code on the scheduler started a task without an executor, which went to the process's default executor. The text
    /// names the first such task.
    case jobLeft(String, at: VirtualClock.Instant)
}

extension DeterministicSchedulerError: CustomStringConvertible {
    /// The mistake and its remedy.
    public var description: String {
        switch self {
        case .timeStandsStill(let time):
            "\(DeterministicScheduler.jobsPerInstant) jobs ran at \(time.offset) and more are queued: "
                + "let a task that yields in a loop call work(for:) or sleep"
        case .stalled(let time):
            "nothing is left to do at \(time.offset) and the operation has not ended: "
                + "it waits for something outside of this scheduler (the main actor, another executor, a thread), "
                + "or that nobody does"
        case .alreadyRuns:
            "the scheduler runs already: run it by one thread at a time, and not from its own tasks"
        case .jobLeft(let task, let time):
            "\(task) left the scheduler for the process's default executor, before \(time.offset): "
                + "give it an executor of the scheduler, or make the scheduler with taking: .everything"
        }
    }
}
