/// The outcome of an operation.
public enum OperationOutcome: Sendable, Hashable, CaseIterable {
    /// The body returned.
    case succeeded
    /// The body, or a condition, threw.
    case failed
    /// The operation was cancelled before its body ended.
    case cancelled
    /// The operation did not run, because one of its dependencies failed or was cancelled (rule O11).
    case dependencyFailed
}
