/// How an operation ended.
public enum OperationOutcome: UInt8, Sendable, Hashable, CaseIterable {
    /// Its body returned.
    case succeeded
    /// Its body threw, or one of its conditions did.
    case failed
    /// It was cancelled before its body ended.
    case cancelled
    /// It did not run because an operation that it depends on failed or was cancelled (rule O11).
    case dependencyFailed
}
