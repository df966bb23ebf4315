import QoSCore
import QoSRuntime

/// What a domain keeps of a queue, beside what the graph knows.
struct DomainQueue: Sendable {
    let scheduler: QoSScheduler
    /// Who waits until it is idle.
    var waiters: [Waiter] = []
    var added = 0
    var finished = 0
    var observers: [UInt64: AsyncStream<QueueProgress>.Continuation] = [:]
    var lastObserver: UInt64 = 0
}
