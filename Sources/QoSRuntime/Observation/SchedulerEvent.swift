public import QoSCore

/// What a scheduler tells its observer: something that is rare and that somebody may want to know.
public enum SchedulerEvent: Sendable, Hashable {
    /// A waiting task was moved to the pool of a higher class because something there waits for it (rule I4).
    case promotedWaiting(from: QoSClass, to: QoSClass, PromotionReason)
    /// What a worker runs was raised because something of a higher class waits for it (rules I4, O8).
    case promotedRunning(worker: WorkerIdentity, to: QoSClass, PromotionReason)
    /// Higher classes begin to stand aside for classes that were kept off the processors for too long (rule C7).
    case starvationWindows([QoSClass])
    /// A worker's thread waits in the kernel with its job unfinished; another one may stand in for it.
    case workerBlocked(WorkerIdentity, BlockingReason)
    /// It runs again, or its job has ended.
    case workerUnblocked(WorkerIdentity)
    /// A worker has been in one job for longer than its class should be: since so many nanoseconds, at least.
    ///
    /// A job that computes for long starves its class like one that blocks, and no other worker stands in for it: it suspends now and then,
    /// or calls ``QoS/yieldIfNeeded()``. The label is that of ``QoS/withLabel(_:_:)`` or of the work queue whose item runs; `nil` where the job says nothing.
    case jobStalled(worker: WorkerIdentity, nanoseconds: UInt64, label: String?, StallKind)
    /// Affinity or quota of the process changed, and the scheduler counts on another number of processors from now on.
    case processorsChanged(from: Int, to: Int)
    /// A limit that ``QoSScheduler/setWidthLimit(_:for:)`` set has taken effect, so many nanoseconds after it was set; `nil` is no limit.
    case widthLimited(QoSClass, to: Int?, afterNanoseconds: UInt64)
    /// Something waits for something lower that cannot be raised, a worker's thread sleeps in a lock or for a work queue, or some wait
    /// for one another for ever; with the names of both sides (rule I5).
    ///
    /// A scheduler tells of its own workers, and of threads and tasks that are nobody's workers.
    case waiting(InversionReport)
    /// A thread could not be created; it is tried again while there is work.
    case threadStartFailed(QoSClass)
}

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

/// What a stalled job does.
public enum StallKind: String, Sendable, Hashable, Codable {
    /// It uses a processor, or waits for one, and does not suspend.
    case computing
    /// Its thread sleeps in the kernel.
    case blocked
}

/// How it is known that a worker is blocked.
public enum BlockingReason: String, Sendable, Hashable, Codable {
    /// The job said so, by `QoS.withBlocking(_:)`.
    case declared
    /// Its thread was seen asleep with the job unfinished.
    case detected
}

/// A worker, by the name of its thread.
public struct WorkerIdentity: Sendable, Hashable, Codable, CustomStringConvertible {
    /// The class of its pool.
    public let qosClass: QoSClass
    /// Its place in the pool, 0 and up.
    public let index: Int

    /// The name that tools show for the thread: `qos-bg-0`.
    public var description: String { "qos-\(qosClass.abbreviation)-\(index)" }
}

/// Is told what a scheduler does.
///
/// ``observe(_:)`` is called on the thread on which it happened, a worker or the scheduler's loop, never under a lock that a fast
/// path takes. It must be short and must not block: hand the value on.
public protocol SchedulerObserver: Sendable {
    /// Something happened.
    func observe(_ event: SchedulerEvent)
}
