internal import QoSCore

/// A worker that admission counts: between two jobs, or in one that takes virtual time.
struct VirtualWorker {
    /// The CPU time that a task asked for, and the continuation after it.
    struct Work {
        let continuation: CheckedContinuation<Void, Never>
        var remaining: Int64
        let label: Character?
    }

    let id: Int

    /// The class of its pool.
    let home: QoSClass

    /// The class in which the worker is counted: its own, or until the end of the job that of a higher waiter.
    var counted: QoSClass

    /// Whether the worker was woken and has had no job yet.
    var isSearching = true

    /// The worker's job; `nil` between two jobs.
    var job: VirtualJob?

    /// The CPU time that the job still takes, in order.
    var works: [Work] = []

    /// Whether the worker can act now, if it has a core.
    var isDue: Bool { works.first.map { $0.remaining <= 0 } ?? true }
}
