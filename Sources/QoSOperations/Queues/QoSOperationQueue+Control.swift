public import QoSCore

extension QoSOperationQueue {
    // MARK: Levels

    /// The level that the queue was given. Setting it ends a promotion; a higher one promotes what is in the queue (rule Q3), a
    /// lower one counts for what is added from now on (rule Q4).
    public var level: QoSLevel? {
        get { OperationDomain.shared.look { $0.graph.assignedLevel(of: id) } }
        set { OperationDomain.shared.change { state, _ in state.graph.levelSet(of: id, to: newValue, &state.effects) } }
    }

    /// The level that operations are held against now: ``level``, or that of a promotion (rules Q2, Q5).
    public var effectiveLevel: QoSLevel? {
        OperationDomain.shared.look { $0.graph.level(of: id) }
    }

    // MARK: Running

    /// How many operations may run at the same time. Those that run when it is lowered go on.
    public var maxConcurrent: ConcurrencyLimit {
        get { ConcurrencyLimit(count: OperationDomain.shared.look { $0.graph.limit(of: id) }) }
        set {
            OperationDomain.shared.change { state, _ in state.graph.limitSet(of: id, to: newValue.count, &state.effects)
            }
        }
    }

    /// Starts nothing until ``resume()`` has been called as often as this, as a `WorkQueue` does. Operations that run go on.
    public func suspend() {
        OperationDomain.shared.look { $0.graph.queueSuspended(id) }
    }

    /// Takes one ``suspend()`` back.
    ///
    /// - Throws: ``OperationError/notSuspended(_:)`` when the queue is not suspended.
    public func resume() throws(OperationError) {
        try OperationDomain.shared.change { (state, _) throws(OperationError) in
            do {
                try state.graph.queueResumed(id, &state.effects)
            } catch {
                throw .notSuspended(name)
            }
        }
    }

    /// Whether the queue starts nothing for now.
    public var isSuspended: Bool { OperationDomain.shared.look { $0.graph.isSuspended(id) } }

    /// The operations that have not ended, in the order in which they were added.
    ///
    /// Complexity: O(n log n).
    public var operations: [AnyOperation] {
        OperationDomain.shared.look { state in state.graph.members(of: id).compactMap { state.operation($0) } }
    }

    /// How many operations have not ended.
    public var operationCount: Int { OperationDomain.shared.look { $0.graph.unfinishedCount(of: id) } }

    /// Cancels all operations that the queue has and that have not ended (rule O11).
    public func cancelAllOperations() {
        OperationDomain.shared.cancel(all: operations)
    }

    // MARK: Waiting

    /// Waits until the queue has no operation that has not ended, and raises those that it has to the caller's level
    /// (rule O9). They keep their order among themselves.
    ///
    /// - Parameter promotes: `false` for a wait that only watches, and raises nothing.
    /// - Throws: ``OperationError/waitsForItself(_:)`` in an operation of this queue; ``OperationError/deadlock(_:)`` in one
    ///   that an operation of this queue waits for: see ``AnyOperation/finished()``.
    public func waitUntilAllFinished(promotes: Bool = true) async throws(OperationError) {
        try await OperationDomain.shared.finished(.queue(id), promotes: promotes)
    }

    /// Blocks the calling thread until the queue has no operation that has not ended, and raises those that it has to the
    /// thread's level (rule O9).
    ///
    /// - Throws: as ``waitUntilAllFinished()``.
    @available(*, noasync, message: "use waitUntilAllFinished() in a task")
    public func blockUntilAllFinished() throws(OperationError) {
        try OperationDomain.shared.blockUntilFinished(.queue(id))
    }

    /// The most operations that were added, started or cancelled at one time under the lock of all operations, since the process
    /// began; for tests and diagnostics.
    package static var mostHandledAtOnce: Int { OperationDomain.shared.look { $0.mostHandled } }
}
