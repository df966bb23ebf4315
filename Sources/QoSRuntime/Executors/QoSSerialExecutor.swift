/// A serial executor for actors. It runs an actor's calls one at a time, in the pool of the class of the highest
/// waiting call (rules I3, I4).
///
/// The default executor of an actor may leave a call of a high class behind unrelated background work, if the actor
/// happens to be queued there. This executor moves to a higher pool as soon as a higher call comes in.
///
/// ```swift
/// actor Index {
///     private let executor: QoSSerialExecutor
///     nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
///
///     init(scheduler: QoSScheduler) {
///         executor = scheduler.makeSerialExecutor()
///     }
/// }
/// ```
///
/// Among waiting calls, the higher class goes first. Calls of one class run in the order of their arrival. Several
/// actors may share one executor; they then exclude each other.
///
/// Threading: any thread; a submission takes no lock. The actor must keep the executor.
public final class QoSSerialExecutor: SerialExecutor {
    private let lane: SerialLane

    init(group: PoolGroup) {
        lane = SerialLane(group: group)
        unsafe lane.belongs(to: asUnownedSerialExecutor())
    }

    /// Adds a job. Lock-free, no allocation.
    public func enqueue(_ job: consuming ExecutorJob) {
        lane.enqueue(UnownedJob(job))
    }

    /// Stops the process unless the calling thread runs a call of this executor's actors.
    public func checkIsolated() {
        precondition(lane.isCurrent, "not on the serial executor that was expected")
    }

    /// Whether the calling thread runs a call of this executor's actors.
    public func isIsolatingCurrentContext() -> Bool? {
        lane.isCurrent
    }
}
