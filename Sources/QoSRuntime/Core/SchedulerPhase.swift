/// The life of a scheduler, as a value: running, draining until no work is left, closed, ended.
///
/// Only the loop thread drives it; the pools read a copy of the result (`Docs/Inside/Protocols/shutdown.md`).
enum SchedulerPhase: Equatable {
    /// Takes and runs work.
    case running
    /// Still takes and runs work, until none is left or the time is up.
    case draining(deadline: UInt64)
    /// Workers leave at their next job boundary. Queued and new work goes to the process's default executor.
    case closed(deadline: UInt64)
    /// Every worker has left, or was given up.
    case ended

    /// The action of the loop thread after an event.
    enum Action: Equatable {
        /// Nothing yet.
        case wait
        /// Look again at this time at the latest, monotonic nanoseconds.
        case waitUntil(UInt64)
        /// Close the pools and wake every worker, then look again at this time at the latest.
        case close(lookAgainAt: UInt64)
        /// Join the threads that have left, give up the others, end the loop.
        case end
    }

    /// The time within which workers that are told to leave must end their job. Nanoseconds.
    static let leaveGrace: UInt64 = 2_000_000_000

    /// Notes a request to end the scheduler.
    mutating func shutdownRequested(deadline: UInt64) {
        switch self {
        case .running: self = .draining(deadline: deadline)
        case .draining(let earlier): self = .draining(deadline: min(earlier, deadline))
        case .closed, .ended: break
        }
    }

    /// Notes the loop thread's look at the pools, and returns the next action.
    ///
    /// - Parameters:
    ///   - isQuiet: whether no worker is awake and no work is queued.
    ///   - workersLeft: the number of threads that have not ended.
    mutating func looked(at now: UInt64, isQuiet: Bool, workersLeft: Int) -> Action {
        switch self {
        case .running, .ended:
            return .wait
        case .draining(let deadline):
            guard isQuiet || now >= deadline else { return .waitUntil(deadline) }
            let leave = now &+ Self.leaveGrace
            self = .closed(deadline: leave)
            return .close(lookAgainAt: leave)
        case .closed(let deadline):
            guard workersLeft == 0 || now >= deadline else { return .waitUntil(deadline) }
            self = .ended
            return .end
        }
    }
}
