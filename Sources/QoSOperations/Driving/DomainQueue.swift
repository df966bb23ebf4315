import QoSCore
import QoSRuntime

/// What a domain keeps of a queue, beside what the graph knows.
struct DomainQueue: Sendable {
    let scheduler: QoSScheduler
    /// Who waits until it is idle.
    var waiters: [Waiter] = []
    /// The highest level of those: what is added meanwhile is waited for, too (rule O9).
    var waitedAt: QoSLevel?
    var added = 0
    var finished = 0
    /// How many are going to be added in all, if somebody has said so.
    var expected: Int?
    var observers: [UInt64: AsyncStream<QueueProgress>.Continuation] = [:]
    var lastObserver: UInt64 = 0
}
