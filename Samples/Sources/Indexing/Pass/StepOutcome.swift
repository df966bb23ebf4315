/// The outcome of a step of a pass.
public enum StepOutcome: Sendable, Hashable {
    /// The step did some work and committed it. There may be more.
    case progress
    /// The step could do nothing for now. Indexed files stay searchable, and the same step can be tried again later.
    case paused(PauseReason)
    /// The pass is over.
    case finished
}
