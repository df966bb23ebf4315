/// The duration of a queue's promotion by an operation of a higher level (rule Q5).
public enum QueuePromotionLifetime: Sendable, Hashable, CaseIterable {
    /// Until the queue's level is set.
    case untilSet
    /// Until the last operation that was added with a level above the queue's own has finished, or the level is set.
    case whilePresent
}
