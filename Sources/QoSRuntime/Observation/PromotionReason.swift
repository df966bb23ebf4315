/// Why work was promoted, and by whom, as far as anybody knows.
public enum PromotionReason: Sendable, Hashable, Codable {
    /// Its task was escalated: something of the higher class awaits it, or ``QoSScheduler/raise(_:to:)`` was called when it could not be
    /// moved at once. Swift's runtime tells the priority, and not who awaits.
    case escalated
    /// ``QoSScheduler/raise(_:to:)`` was called by the thread of this name.
    case raised(by: String)
    /// A work queue's item that it runs is waited for, or stands before a higher one (rules I1, I3); the label of the innermost queue.
    case queue(String?)
    /// The thread of this name waits for a lock that it holds, directly or along others (rule I2).
    case lock(waiter: String)
}
