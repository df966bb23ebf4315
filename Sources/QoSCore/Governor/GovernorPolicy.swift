/// A rule that turns conditions into allowances (rules S2, S3, S4).
///
/// A policy is a pure function: the same conditions give the same decision. The governor clamps the answer, so that
/// userInteractive always runs (``GovernorDecision/clamped()``), and holds a loosened answer back for a moment.
///
/// ```swift
/// struct SpareTheDisk: GovernorPolicy {
///     func decision(for conditions: SystemConditions) -> GovernorDecision {
///         var decision = RecommendedPolicy().decision(for: conditions)
///         if conditions[.io].state > .nominal {
///             decision.restrict(from: .background, because: "the disk is busy") { $0.permission = .stop }
///         }
///         return decision
///     }
/// }
/// ```
public protocol GovernorPolicy: Sendable {
    /// Returns the allowance of each class under some conditions.
    func decision(for conditions: SystemConditions) -> GovernorDecision
}
