/// What a class sets on its threads, one by one, because each can be refused on its own.
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
