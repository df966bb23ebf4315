/// The life of a scheduler, as a value: running, draining until nothing is left to run, closed, ended.
///
/// Driven by the loop thread alone; the pools read a copy of the result (`Docs/Protocols/shutdown.md`).
enum SchedulerPhase: Equatable {
    /// Takes and runs work.
    case running
    /// Still takes and runs work, until none is left or the time is up.
    case draining(deadline: UInt64)
    /// Workers leave at their next job boundary; what is queued or comes in goes to the process's default executor.
    case closed(deadline: UInt64)
    /// Every worker has left, or was given up.
    case ended

    /// What the loop thread has to do after an event.
    enum Action: Equatable {
        /// Nothing yet.
        case wait
        /// Look again at this time at the latest, monotonic nanoseconds.
        case waitUntil(UInt64)
        /// Close the pools and wake every worker, then look again at this time at the latest.
        case close(lookAgainAt: UInt64)
        /// Take the threads that have left back, give up the others, end the loop.
        case end
    }

    /// How long workers that are told to leave may take over the job they run. Nanoseconds.
    static let leaveGrace: UInt64 = 2_000_000_000

    /// Somebody wants the scheduler to end.
    mutating func shutdownRequested(deadline: UInt64) {
        switch self {
        case .running: self = .draining(deadline: deadline)
        case .draining(let earlier): self = .draining(deadline: min(earlier, deadline))
        case .closed, .ended: break
        }
    }

    /// The loop thread looked at the pools.
    ///
    /// - Parameters:
    ///   - isQuiet: no worker is awake, nothing is queued.
    ///   - workersLeft: threads that have not come to their end.
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
