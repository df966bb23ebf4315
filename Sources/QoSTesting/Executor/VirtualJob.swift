internal import QoSCore
internal import QoSRuntime

/// A job of a Swift task, queued or running on a virtual worker.
struct VirtualJob: Sendable {
    /// The owner of the job, as which it runs.
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

    /// Whether the job is a task, which exists as long as it runs. Other jobs free themselves when they begin.
    let isTask: Bool

    init(job: UnownedJob, owner: Owner) {
        self.job = job
        self.owner = owner
        isTask = ConcurrencyRuntime.isTask(job)
    }

    /// A number that all jobs of one task share.
    var identity: UInt {
        // SAFETY: an unowned job is one pointer; it is compared only.
        unsafe unsafeBitCast(job, to: UInt.self)
    }

    /// The class of the job now: that of its executor or of its priority, or that of a higher waiter.
    func wantedClass(atLeast known: QoSClass) -> QoSClass {
        guard let live = ConcurrencyRuntime.livePriority(job) else { return known }
        let raised = live > job.priority.rawValue ? QoSClass(rawPriority: live) : ConcurrencyRuntime.classNeeding(job)
        return max(known, raised ?? known)
    }

    /// Runs the job on the calling thread.
    func run() {
        switch owner {
        case .executor(let executor): unsafe job.runSynchronously(on: executor.asUnownedTaskExecutor())
        case .serial(let executor): unsafe job.runSynchronously(on: executor.asUnownedSerialExecutor())
        }
    }
}
