public import QoSCore

/// The state of an operation.
public enum OperationState: Sendable, Hashable {
    /// In no queue yet.
    case created
    /// In a queue and not started. It waits for its dependencies, its conditions, a barrier or its turn.
    case waiting
    /// The body runs.
    case running
    /// Ended, with this outcome.
    case finished(OperationOutcome)
}
