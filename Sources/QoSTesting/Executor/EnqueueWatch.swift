internal import QoSKernel
internal import QoSRuntime
internal import Synchronization

/// Sees the jobs that code on deterministic schedulers gives to the process's default executor.
///
/// A plain `Task { }` prefers no executor, so it leaves the scheduler of the code that makes it. The concurrency library
/// tells of each such job on the thread that submits it. A job belongs to a scheduler if the scheduler's driver submits
/// it, or if the scheduler has taken its task before. Jobs of other tests that run at the same time do not.
///
/// Threading: any thread. While no scheduler is driven and none takes jobs, a job costs one atomic read.
enum EnqueueWatch {
    private struct Party {
        /// The thread that drives the scheduler; `nil` for a scheduler that is not driven.
        var driver: ThreadID?
        weak var scheduler: DeterministicScheduler?
    }

    private static let parties = Lock<[ObjectIdentifier: Party]>([:])
    private static let count = Atomic<Int>(0)

    /// Installs the watch; once.
    private static let installed: Void = unsafe ConcurrencyRuntime.watchEnqueues { address in
        unsafe EnqueueWatch.takes(ConcurrencyRuntime.job(at: address))
    }

    /// Lets a scheduler see jobs: those of its driver, if a thread drives it, and those of tasks that it has taken.
    static func enter(_ scheduler: DeterministicScheduler, driver: ThreadID?) {
        _ = installed
        let isNew = parties.withLock {
            $0.updateValue(Party(driver: driver, scheduler: scheduler), forKey: ObjectIdentifier(scheduler)) == nil
        }
        if isNew { count.wrappingAdd(1, ordering: .sequentiallyConsistent) }
    }

    /// Ends that. The scheduler is being driven no longer, or it is gone.
    static func leave(_ scheduler: ObjectIdentifier) {
        let wasThere = parties.withLock { $0.removeValue(forKey: scheduler) != nil }
        if wasThere { count.wrappingSubtract(1, ordering: .sequentiallyConsistent) }
    }

    private static func takes(_ job: UnownedJob) -> Bool {
        guard count.load(ordering: .relaxed) > 0 else { return false }
        let thread = ThreadID.current
        // A scheduler may end with the last of these references, and then leaves: outside of the lock.
        let known = parties.withLock { parties in
            parties.values.compactMap { party in party.scheduler.map { ($0, isDriver: party.driver == thread) } }
        }
        return known.contains { $0.0.takes(job, fromDriver: $0.isDriver) }
    }
}

/// The jobs of a scheduler's tasks that went, or would have gone, to the process's default executor.
struct Departures {
    /// The number of the latest task when the scheduler was driven. Tasks with a higher number are those of its code.
    var latestTask: UInt64 = 0
    /// The numbers of the tasks that the scheduler has taken.
    var taken: Set<UInt64> = []
    /// The first task that left.
    var first: String?
}

extension DeterministicScheduler {
    /// Takes a job for the process's default executor, or notes that it leaves.
    ///
    /// - Parameter fromDriver: whether code of the scheduler submits the job.
    /// - Returns: whether the job was taken.
    func takes(_ job: UnownedJob, fromDriver: Bool) -> Bool {
        let isTask = ConcurrencyRuntime.isTask(job)
        let number = isTask ? ConcurrencyRuntime.number(of: job) : 0
        let isTaken = departures.withLock { departures in
            guard isTask else { return fromDriver && taking == .everything }
            if departures.taken.contains(number) { return true }
            // The driver also resumes tasks that the test itself has made elsewhere. They stay there.
            guard fromDriver, number > departures.latestTask else { return false }
            guard taking == .everything else {
                departures.first = departures.first ?? Self.description(of: job)
                return false
            }
            departures.taken.insert(number)
            return true
        }
        guard isTaken else { return false }
        DeterministicExecutor(self, nil).enqueue(job)
        return true
    }

    /// Returns the words for a task that leaves, on the thread of its creator.
    private static func description(of job: UnownedJob) -> String {
        let name = ConcurrencyRuntime.name(of: job).map { "the task '\($0)'" } ?? "a task without a name"
        let creator = Task.name.map { ", made by the task '\($0)'" } ?? ""
        return "\(name) of priority \(job.priority.rawValue)\(creator)"
    }
}
