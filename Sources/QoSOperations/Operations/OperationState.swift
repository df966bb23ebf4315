public import QoSCore

/// Where an operation stands.
public enum OperationState: Sendable, Hashable {
    /// In no queue yet.
    case created
    /// In a queue, and not started: it waits for what it depends on, for its conditions, a barrier or its turn.
    case waiting
    /// Its body runs.
    case running
    /// It has ended, in this way.
    case finished(OperationOutcome)
}
