/// One thing that ``EffectProbe`` tries.
package enum EffectCapability: String, Sendable, Hashable, CaseIterable {
    /// From OTHER to BATCH and back.
    case policy
    /// To a higher nice value: less favoured.
    case niceDown
    /// Back to the nice value the process began with.
    case niceUp
    /// To a nice value below zero.
    case niceBelowZero
    /// A slice of one's own.
    case slice
    /// Best effort to IDLE and back.
    case ioPriority
    /// The timer slack of the calling thread.
    case timerSlack
    /// The timer slack of a sibling.
    case timerSlackOfSibling
    /// The processors of the calling thread.
    case affinity
    /// Into IDLE.
    case idleIn
    /// Out of IDLE.
    case idleOut
}
