/// The behavior of an item after one of its dependencies has died or was cancelled (rule O11).
public enum FailedParentPolicy: String, Sendable, Hashable, Codable, CaseIterable {
    /// The item is cancelled. Its dependents follow their own policies.
    case cancel
    /// The item runs when all of its dependencies have ended.
    case runAnyway
}
