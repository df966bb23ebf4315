internal import QoSCore
internal import QoSRuntime

/// A job of a Swift task that waits for a virtual worker, or is run by one.
struct VirtualJob: Sendable {
    /// Who runs it: as whose job.
    enum Owner: Sendable {
        case executor(DeterministicExecutor)
        case serial(DeterministicSerialExecutor)
    }

    let job: UnownedJob
    let owner: Owner

    /// The serial executor whose jobs exclude each other; `nil` for a job of none.
    var lane: ObjectIdentifier? {
        guard case .serial(let executor) = owner else { return nil }
        return ObjectIdentifier(executor)
    }

    /// Whether it is a task, which is there as long as it runs; other jobs free themselves when they begin.
    let isTask: Bool

    init(job: UnownedJob, owner: Owner) {
        self.job = job
        self.owner = owner
        isTask = ConcurrencyRuntime.isTask(job)
    }

    /// The same for all jobs of one task.
    var identity: UInt {
        // SAFETY: an unowned job is one pointer; it is compared only.
        unsafe unsafeBitCast(job, to: UInt.self)
    }

    /// The class that the job belongs to now: that of its executor or of its priority, or a higher one that waits for it.
    func wantedClass(atLeast known: QoSClass) -> QoSClass {
        guard let live = ConcurrencyRuntime.livePriority(job) else { return known }
        let raised = live > job.priority.rawValue ? QoSClass(rawPriority: live) : ConcurrencyRuntime.classNeeding(job)
        return max(known, raised ?? known)
    }

    /// Runs it on the calling thread.
    func run() {
        switch owner {
        case .executor(let executor): unsafe job.runSynchronously(on: executor.asUnownedTaskExecutor())
        case .serial(let executor): unsafe job.runSynchronously(on: executor.asUnownedSerialExecutor())
        }
    }
}
