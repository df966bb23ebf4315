import QoSKernel

/// The answer to activities with `ActivityOptions.idleSleepDisabled` (rule S8).
public enum IdleSleepInhibition: Sendable, Hashable {
    /// No such activity runs.
    case notRequested
    /// The program that keeps the machine awake was started, and has not failed.
    case requested
    /// The machine may go to sleep although such an activity runs; with the problem and its remedy.
    case unavailable(String)

    init(_ state: IdleInhibitor.State) {
        switch state {
        case .notRequested: self = .notRequested
        case .requested: self = .requested
        case .unavailable(let problem): self = .unavailable(problem)
        }
    }
}
