public import QoSCore
import QoSKernel

/// Runs closures in the pools of a scheduler, one at a time or many at once. The rules B5 to B10 resolve their levels.
///
/// A serial queue runs its items one at a time, in the order of their submission. A concurrent queue starts them in
/// that order, and runs as many at once as its pools have workers. A `WorkItemFlags.barrier` runs alone.
///
/// ```swift
/// let index = scheduler.makeQueue("index", level: .utility)
/// index.async { rebuild() }
/// let count = try index.sync { entries.count }
/// let hits = try await index.run { find("swift") }
/// ```
///
/// On a serial queue, a high item raises the lower ones before it, waiting and running, as long as it waits. A wait for
/// an item does the same (rules I1, I3).
///
/// When the last reference to a queue goes, its work is still finished, even if it was suspended. A queue keeps its
/// scheduler's threads, not the scheduler. After ``QoSScheduler/shutdown(within:)`` its items run on the process's
/// default executor.
///
/// Threading: any thread.
public final class WorkQueue: Sendable {
    /// The order among the items of a queue.
    public enum Kind: Sendable, Hashable {
        /// One at a time, first in, first out.
        case serial
        /// Many at once, started in the order of their submission.
        case concurrent
    }

    let core: QueueCore

    init(core: QueueCore) {
        self.core = core
    }

    deinit {
        core.released()
    }

    /// The name given when the queue was made.
    public var label: String { core.label }

    /// Whether items run one at a time.
    public var kind: Kind { core.kind == .serial ? .serial : .concurrent }

    /// The queue's level (rule B1): its own if one was given, else that of the global queue it targets, else `nil`:
    /// unspecified.
    public var level: QoSLevel? { WorkSubmission.readableLevel(of: core.level, target: core.targetKind) }

    /// Makes the queue run on another one (rule B3). Its items become items of that queue too. They run one at a time
    /// if either queue is serial.
    ///
    /// Allowed only before the first submission. Chains are allowed.
    ///
    /// - Throws: ``WorkQueueError/targetCycle(_:)``, ``WorkQueueError/queueHasWork(_:)``,
    ///   ``WorkQueueError/otherScheduler(_:)``, ``WorkQueueError/globalQueue(_:)`` on a global queue.
    public func setTarget(_ target: WorkQueue) throws(WorkQueueError) {
        try core.setTarget(target.core)
    }

    /// Prevents further items from beginning until ``resume()`` was called as often as this. Running items continue.
    ///
    /// - Throws: ``WorkQueueError/globalQueue(_:)``: all code shares the global queues.
    public func suspend() throws(WorkQueueError) {
        try core.suspend()
    }

    /// Whether the queue itself is suspended. A suspended target does not count.
    public var isSuspended: Bool { core.state.withLock { $0.order.isSuspended } }

    /// The number of items that wait for their turn in the queue.
    ///
    /// The count leaves out items that were given to a pool or to a target queue. So it is always 0 for a global queue.
    /// It is correct for the moment of the read.
    ///
    /// - Complexity: O(1).
    public var waitingCount: Int { core.state.withLock { $0.order.heldCount } }

    /// Takes back one ``suspend()``.
    ///
    /// - Throws: ``WorkQueueError/notSuspended(_:)``, ``WorkQueueError/globalQueue(_:)``.
    public func resume() throws(WorkQueueError) {
        try core.resume()
    }
}
