import QoSKernel

/// The threads, other than workers, that sleep until work of a work queue has ended.
///
/// The end of the scheduler wakes them. From then on, they run the awaited work themselves.
///
/// Threading: any thread.
final class SleepingThreads: Sendable {
    private let waits = Lock<[ObjectIdentifier: ThreadWait]>([:])

    /// The number of sleeping threads.
    var count: Int { waits.withLock(\.count) }

    /// Adds a thread, before it looks whether the scheduler has ended.
    func add(_ wait: ThreadWait) {
        waits.withLock { $0[ObjectIdentifier(wait)] = wait }
    }

    /// Removes a thread that has been woken for good.
    func remove(_ wait: ThreadWait) {
        waits.withLock { $0[ObjectIdentifier(wait)] = nil }
    }

    /// Wakes all threads, after the scheduler has been marked as ended.
    func wakeAll() {
        for wait in waits.withLock({ Array($0.values) }) { wait.parker.unpark() }
    }
}

/// A thread that waits for work of a work queue.
final class ThreadWait: Sendable {
    let parker = Parker()
}
