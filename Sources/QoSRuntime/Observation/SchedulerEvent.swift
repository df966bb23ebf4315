public import QoSCore

/// A rare event that a scheduler reports to its observer.
public enum SchedulerEvent: Sendable, Hashable {
    /// A queued task was moved to the pool of a higher class because work of that class waits for it (rule I4).
    case promotedWaiting(from: QoSClass, to: QoSClass, PromotionReason)
    /// A running job, with its worker, was promoted because work of a higher class waits for it (rules I4, O8).
    case promotedRunning(worker: WorkerIdentity, to: QoSClass, PromotionReason)
    /// Higher classes begin to stand aside for classes that were kept off the processors for too long (rule C7).
    case starvationWindowsOpened([QoSClass])
    /// A worker's thread waits in the kernel with its job unfinished. Another worker may stand in for it.
    case workerBlocked(WorkerIdentity, BlockingReason)
    /// The blocked worker runs again, or its job has ended.
    case workerUnblocked(WorkerIdentity)
    /// A worker has been in one job for longer than its class should be, for at least this duration.
    ///
    /// A job that computes for long starves its class like one that blocks, but no other worker stands in. Such a job
    /// should suspend now and then, or call ``QoS/yieldIfNeeded()``. The label comes from ``QoS/withLabel(_:_:)``, from
    /// the work queue whose item runs, or is the task's name; `nil` if the job has none.
    ///
    /// A thread outside of the pools is reported for the code of a ``QoSScheduler/withQoS(_:operation:)`` that stays on
    /// an actor with an executor of its own, such as the main actor; see ``WorkerIdentity/isOutside``.
    case jobStalled(worker: WorkerIdentity, duration: Duration, label: String?, StallKind)
    /// The affinity or the quota of the process changed. From now on the scheduler counts on the new number of
    /// processors.
    case processorsChanged(from: Int, to: Int)
    /// A limit of ``QoSScheduler/setWidthLimit(_:for:)`` has taken effect, this duration after the call; `nil` is
    /// no limit.
    case widthLimited(QoSClass, to: Int?, after: Duration)
    /// A wait that the runtime cannot shorten, with the names of both sides (rule I5).
    ///
    /// There are three kinds: an inversion that cannot be resolved, a worker's thread that sleeps in a lock or for a
    /// work queue, and a deadlock. A scheduler reports its own workers, and the threads and tasks that are no
    /// scheduler's workers.
    case inversion(InversionReport)
    /// A background activity on the scheduler began, ended, or was asked to defer (rule S5).
    case backgroundActivity(BackgroundActivityEvent)
    /// An activity with `idleSleepDisabled` runs, and the machine may go to sleep all the same; with the problem and its
    /// remedy (rule S8). The scheduler whose worker began the activity reports it.
    case idleSleepNotInhibited(String)
    /// A thread could not be created. The scheduler tries again while there is work.
    case threadStartFailed(QoSClass)
    /// A limit of the runtime or of the system was reached. Reported once for each limit.
    case limitReached(SchedulerLimit)
}

/// The reason for a promotion, with the waiter's name if it is known.
public enum PromotionReason: Sendable, Hashable, Codable {
    /// The task was escalated: work of the higher class awaits it, or ``QoSScheduler/raise(_:to:)`` was called and
    /// could not move it at once.
    ///
    /// The first name is that of the promoted task, the second that of the latest task that awaits it; `nil` for a task
    /// without a name. The waiter of a running task is not known, because the wait may end during the look.
    case escalated(task: String?, waiter: String?)
    /// The task was cancelled while its class is stopped, and comes to its end in the other class.
    case cancelled
    /// The thread of this name called ``QoSScheduler/raise(_:to:)``.
    case raised(by: String)
    /// The promoted work runs an item of a work queue. A caller waits for that item, or a higher item is queued behind
    /// it (rules I1, I3). The label is that of the innermost queue.
    case queue(String?)
    /// The thread or task of this name waits for a lock that the promoted work holds, directly or through other holders
    /// (rule I2). The second name is that of the lock for which it waits; `nil` for a later raise of the same wait.
    case lock(waiter: String, name: String?)
}

/// The state of a stalled job.
public enum StallKind: String, Sendable, Hashable, Codable {
    /// The job uses a processor, or waits for one, and does not suspend.
    case computing
    /// The job's thread sleeps in the kernel.
    case blocked
}

/// The way in which the scheduler knows that a worker is blocked.
public enum BlockingReason: String, Sendable, Hashable, Codable {
    /// The job declared it, by `QoS.withBlocking(_:)`.
    case declared
    /// The scheduler saw the thread asleep with the job unfinished.
    case detected
}

/// The identity of a worker, which its thread's name shows.
public struct WorkerIdentity: Sendable, Hashable, Codable, CustomStringConvertible {
    /// The class of the worker's pool.
    public let qosClass: QoSClass
    /// The worker's place in the pool, 0 and up; -1 for a thread outside of the pools.
    public let index: Int

    /// Whether it stands for a thread outside of the pools. The class is then that of the code on it.
    public var isOutside: Bool { index < 0 }

    /// The name that tools show for the thread: `qos-bg-0`. Of a thread outside of the pools: `outside-in`.
    public var description: String {
        isOutside ? "outside-\(qosClass.abbreviation)" : "qos-\(qosClass.abbreviation)-\(index)"
    }

    /// Makes the identity of a thread outside of the pools that runs code of a class.
    static func outside(_ qosClass: QoSClass) -> WorkerIdentity { WorkerIdentity(qosClass: qosClass, index: -1) }
}

/// A receiver of a scheduler's events.
///
/// ``observe(_:)`` is called on the thread of the event, a worker or the scheduler's loop, but never under a lock that
/// a fast path takes. It must be short and must not block: hand the value on.
public protocol SchedulerObserver: Sendable {
    /// Receives one event.
    func observe(_ event: SchedulerEvent)
}
