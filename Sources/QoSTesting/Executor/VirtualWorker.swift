internal import QoSCore

/// A worker that admission counts: between two jobs, or in one that takes virtual time.
struct VirtualWorker {
    /// CPU time that a task said it takes, and what goes on when it has passed.
    struct Work {
        let continuation: CheckedContinuation<Void, Never>
        var remaining: Int64
        let label: Character?
    }

    let id: Int

    /// The class of its pool.
    let home: QoSClass

    /// The class that it is counted in: its own, or until the end of the job that of whoever waits for it.
    var counted: QoSClass

    /// Whether it was woken and has not had a job yet.
    var isSearching = true

    /// What it runs; `nil` between two jobs.
    var job: VirtualJob?

    /// The CPU time that the job still takes, first to last.
    var works: [Work] = []

    /// Whether it has something to do at this moment, if it has a core.
    var isDue: Bool { works.first.map { $0.remaining <= 0 } ?? true }
}
