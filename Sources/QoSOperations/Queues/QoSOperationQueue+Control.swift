public import QoSCore

extension QoSOperationQueue {
    // MARK: Levels

    /// The level of the queue.
    ///
    /// Setting it ends a promotion. A higher level promotes the operations in the queue (rule Q3). A lower one counts
    /// for later operations (rule Q4).
    public var level: QoSLevel? {
        get { OperationEngine.shared.look { $0.graph.assignedLevel(of: id) } }
        set { OperationEngine.shared.change { state, _ in state.graph.levelSet(of: id, to: newValue, &state.effects) } }
    }

    /// The level that the queue gives to operations now: ``level``, or that of a promotion (rules Q2, Q5).
    public var effectiveLevel: QoSLevel? {
        OperationEngine.shared.look { $0.graph.level(of: id) }
    }

    // MARK: Running

    /// The number of operations that may run at the same time. Running operations continue when it is lowered.
    public var maxConcurrent: ConcurrencyLimit {
        get { ConcurrencyLimit(count: OperationEngine.shared.look { $0.graph.limit(of: id) }) }
        set {
            OperationEngine.shared.change { state, _ in state.graph.limitSet(of: id, to: newValue.count, &state.effects)
            }
        }
    }

    /// Starts no operation until ``resume()`` has been called as often as this, like a `WorkQueue`. Running operations
    /// continue.
    public func suspend() {
        OperationEngine.shared.look { $0.graph.queueSuspended(id) }
    }

    /// Takes one ``suspend()`` back.
    ///
    /// - Throws: ``OperationError/notSuspended(_:)`` if the queue is not suspended.
    public func resume() throws(OperationError) {
        try OperationEngine.shared.change { (state, _) throws(OperationError) in
            do {
                try state.graph.queueResumed(id, &state.effects)
            } catch {
                throw .notSuspended(name)
            }
        }
    }

    /// Whether the queue is suspended.
    public var isSuspended: Bool { OperationEngine.shared.look { $0.graph.isSuspended(id) } }

    /// The operations that have not ended, in the order of adding.
    ///
    /// - Complexity: O(n log n).
    public var operations: [BaseOperation] {
        OperationEngine.shared.look { state in state.graph.members(of: id).compactMap { state.operation($0) } }
    }

    /// The number of operations that have not ended.
    public var operationCount: Int { OperationEngine.shared.look { $0.graph.unfinishedCount(of: id) } }

    /// Cancels all operations of the queue that have not ended (rule O11).
    public func cancelAllOperations() {
        OperationEngine.shared.cancel(all: operations)
    }

    // MARK: Waiting

    /// Waits until all operations of the queue have ended, and raises them to the caller's level (rule O9). They keep
    /// their order among themselves.
    ///
    /// - Parameter promotes: `false` for a wait that only watches and raises nothing.
    /// - Throws: ``OperationError/waitsForItself(_:)`` in an operation of this queue. ``OperationError/deadlock(_:)``
    ///   in one that an operation of this queue waits for: see ``BaseOperation/waitUntilFinished(promotes:)``.
    public func waitUntilAllFinished(promotes: Bool = true) async throws(OperationError) {
        try await OperationEngine.shared.waitUntilFinished(.queue(id), promotes: promotes)
    }

    /// Blocks the calling thread until all operations of the queue have ended, and raises them to the thread's level
    /// (rule O9).
    ///
    /// - Throws: as ``waitUntilAllFinished(promotes:)``.
    @available(*, noasync, message: "use waitUntilAllFinished() in a task")
    public func blockUntilAllFinished() throws(OperationError) {
        try OperationEngine.shared.blockUntilFinished(.queue(id))
    }

    /// The maximum number of operations that were handled under one hold of the lock, for tests and diagnostics.
    ///
    /// It counts operations that were added, started or cancelled, of all queues, since the process began.
    package static var mostHandledAtOnce: Int { OperationEngine.shared.look { $0.mostHandled } }
}
