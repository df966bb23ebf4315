/// A setting of a class for its threads. The kernel can refuse each on its own.
package enum EffectKnob: String, Sendable, Hashable, CaseIterable {
    /// The scheduling policy.
    case policy
    /// The nice value.
    case nice
    /// The slice of the fair policies.
    case slice
    /// The I/O class and level.
    case ioPriority
    /// The timer slack.
    case timerSlack
}
