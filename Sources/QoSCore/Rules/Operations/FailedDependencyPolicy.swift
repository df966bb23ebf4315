/// The behaviour of an operation after a failed or cancelled dependency (rule O11).
public enum FailedDependencyPolicy: Sendable, Hashable, CaseIterable {
    /// The operation finishes without running. Its dependents follow their own policies.
    case cancel
    /// The operation runs when all of its dependencies have finished.
    case runAnyway
}
