public import QoSCore

// The queues and executors of a scheduler.

extension QoSScheduler {
    /// Makes a work queue.
    ///
    /// - Parameters:
    ///   - label: the name for errors and diagnostics. It need not be unique.
    ///   - kind: serial or concurrent.
    ///   - level: fixed for the queue's life (rule B1); `nil` leaves it to target, item and submitter (rule B5).
    public func makeQueue(_ label: String, _ kind: WorkQueue.Kind = .serial, level: QoSLevel? = nil) -> WorkQueue {
        WorkQueue(
            core: QueueCore(core: core, label: label, kind: kind == .serial ? .serial : .concurrent, level: level))
    }

    /// Makes a work queue that runs on another one (rule B3).
    ///
    /// - Throws: ``WorkQueueError/otherScheduler(_:)``.
    public func makeQueue(
        _ label: String, _ kind: WorkQueue.Kind = .serial, level: QoSLevel? = nil, target: WorkQueue
    ) throws(WorkQueueError) -> WorkQueue {
        let queue = makeQueue(label, kind, level: level)
        try queue.setTarget(target)
        return queue
    }

    /// Returns the global concurrent queue of a class, one for each (rule B2). It is the class's pool, without an
    /// order.
    public func globalQueue(for qosClass: QoSClass) -> WorkQueue {
        globalQueues[qosClass.rank]
    }

    /// Makes a serial executor for an actor, or for several that exclude each other.
    public func makeSerialExecutor() -> QoSSerialExecutor {
        QoSSerialExecutor(group: core.group)
    }
}
