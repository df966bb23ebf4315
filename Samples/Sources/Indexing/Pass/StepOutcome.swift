/// How a step of a pass ended.
public enum StepOutcome: Sendable, Hashable {
    /// Something was done, and committed; there may be more.
    case progress
    /// Nothing could be done for now. What is indexed stays searchable; the same step can be tried again later.
    case paused(PauseReason)
    /// The pass is over.
    case finished
}
