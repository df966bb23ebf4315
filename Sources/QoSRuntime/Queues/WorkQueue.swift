public import QoSCore
import QoSKernel

/// Runs closures in the pools of a scheduler, one at a time or many at once, at levels that are resolved by the rules B5 to B10.
///
/// A serial queue runs its items one at a time, in the order in which they came in. A concurrent one starts them in that order
/// and runs as many at once as its pools have workers; a `WorkItemFlags.barrier` runs alone.
///
/// ```swift
/// let index = scheduler.makeQueue("index", level: .utility)
/// index.async { rebuild() }
/// let count = try index.sync { entries.count }
/// let hits = try await index.run { find("swift") }
/// ```
///
/// A high item behind lower ones on a serial queue, and whoever waits for an item, raises what stands before it, waiting and
/// running, as long as it does (rules I1, I3).
///
/// When the last reference to a queue goes, the work in it is finished all the same, also when it was suspended. A queue keeps
/// its scheduler's threads, not the scheduler: after ``QoSScheduler/shutdown(within:)`` its items run on the process's default
/// executor.
///
/// Threading: any thread.
public final class WorkQueue: Sendable {
    /// How the items of a queue stand to one another.
    public enum Kind: Sendable, Hashable {
        /// One at a time, first in, first out.
        case serial
        /// Many at once, started in the order in which they came in.
        case concurrent
    }

    let core: QueueCore

    init(core: QueueCore) {
        self.core = core
    }

    deinit {
        core.released()
    }

    /// The name that the queue was made with.
    public var label: String { core.label }

    /// Whether items run one at a time.
    public var kind: Kind { core.kind == .serial ? .serial : .concurrent }

    /// The queue's level (rule B1): the one it was made with, else that of the global queue it targets, else `nil`: unspecified.
    public var level: QoSLevel? { WorkSubmission.readableLevel(of: core.level, target: core.targetKind) }

    /// Makes the queue run on another one (rule B3): its items are items of that one as well, and run one at a time where either
    /// queue is serial.
    ///
    /// Only before the first submission. Chains are allowed.
    ///
    /// - Throws: ``WorkQueueError/targetCycle(_:)``, ``WorkQueueError/queueHasWork(_:)``,
    ///   ``WorkQueueError/otherScheduler(_:)``, ``WorkQueueError/globalQueue(_:)`` on a global queue.
    public func setTarget(_ target: WorkQueue) throws(WorkQueueError) {
        try core.setTarget(target.core)
    }

    /// Lets no further item begin until ``resume()``, as often as this was called. Items that run go on.
    ///
    /// - Throws: ``WorkQueueError/globalQueue(_:)``: the global queues are everybody's.
    public func suspend() throws(WorkQueueError) {
        try core.suspend()
    }

    /// Whether the queue is suspended, by itself: not by what it targets.
    public var isSuspended: Bool { core.state.withLock { $0.order.isSuspended } }

    /// The number of items that wait for their turn in the queue.
    ///
    /// Items that have been given to a pool, or to the queue that this one targets, are not counted: so it is always 0 for a global
    /// queue. Correct for the moment at which it is read.
    ///
    /// - Complexity: O(1).
    public var waitingCount: Int { core.state.withLock { $0.order.heldCount } }

    /// Takes one ``suspend()`` back.
    ///
    /// - Throws: ``WorkQueueError/notSuspended(_:)``, ``WorkQueueError/globalQueue(_:)``.
    public func resume() throws(WorkQueueError) {
        try core.resume()
    }
}
