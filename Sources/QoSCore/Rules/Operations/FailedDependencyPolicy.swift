/// What an operation does when one that it depends on failed or was cancelled (rule O11).
public enum FailedDependencyPolicy: UInt8, Sendable, Hashable, CaseIterable {
    /// It finishes without running, and so on down the graph.
    case cancel
    /// It runs anyway, when all that it depends on has finished.
    case runAnyway
}
