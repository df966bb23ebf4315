public import QoSCore

/// The state of a background activity at one moment (rule S5).
public struct BackgroundActivityState: Sendable, Hashable, Codable {
    /// The present phase, with the times from the moment of the look.
    public enum Phase: Sendable, Hashable, Codable {
        /// The next run is not due. It is due after this duration.
        case waits(for: Duration)
        /// A run is due, and must not begin for this reason.
        case waitsForConditions(String)
        /// A run has been running for this duration.
        case runs(for: Duration)
        /// A run has been running for this duration, although it was asked to defer for this reason.
        case isAskedToDefer(String, runsFor: Duration)
        /// No run follows.
        case ended
    }

    /// The activity.
    public let activity: BackgroundActivity
    /// The present phase.
    public let phase: Phase
    /// The number of runs that have ended, deferred ones included.
    public let runs: Int
    /// The end of the last run; `nil` before it.
    public let lastResult: BackgroundActivityResult?
    /// The duration of the last run; zero before it.
    public let lastDuration: Duration
}

extension BackgroundActivityState: CustomStringConvertible {
    /// The identifier, the phase and the last result: `scrub: waits for 3600.0 seconds; last run finished`.
    public var description: String {
        let text =
            switch phase {
            case .waits(let duration): "waits for \(duration)"
            case .waitsForConditions(let reason): "is due, and waits: \(reason)"
            case .runs(let duration): "runs for \(duration)"
            case .isAskedToDefer(let reason, let duration): "runs for \(duration), asked to defer: \(reason)"
            case .ended: "ended"
            }
        let last =
            switch lastResult {
            case nil: ""
            case .finished?: "; last run finished"
            case .deferred?: "; last run deferred"
            case .failed(let error)?: "; last run failed: \(error)"
            case .cancelled?: "; last run cancelled"
            }
        return "\(activity.identifier): \(text)\(last)"
    }
}
