public import QoSCore
import QoSKernel
import QoSRuntime

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

    /// Starts nothing from now on; what runs goes on. Once is enough, however often it is called.
    public func suspend() {
        OperationDomain.shared.look { $0.graph.queueSuspended(id) }
    }

    /// Starts operations again.
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

    /// Cancels all operations that have not ended (rule O11).
    public func cancelAllOperations() {
        OperationDomain.shared.change { state, actions in
            for member in state.graph.members(of: id) {
                if let operation = state.operation(member) { state.cancel(operation, &actions) }
            }
        }
    }

    // MARK: Waiting

    /// Waits until the queue has no operation that has not ended, and raises those that it has to the caller's level
    /// (rule O9).
    public func waitUntilAllFinished() async {
        await withTaskPriorityEscalationHandler {
            await withCheckedContinuation { continuation in
                let level = QoS.currentLevel
                guard wait(.task(continuation), at: level) else { return continuation.resume() }
                // A raise before the queue knew the waiter came to nobody.
                if let latest = QoS.currentLevel, latest != level { raise(to: latest) }
            }
        } onPriorityEscalated: { _, priority in
            if let qosClass = QoSClass(rawPriority: priority.rawValue) { self.raise(to: QoSLevel(qosClass)) }
        }
    }

    /// Blocks the calling thread until the queue has no operation that has not ended, and raises those that it has to the
    /// thread's level (rule O9).
    ///
    /// - Throws: ``OperationError/waitsForItself(_:)`` in an operation of this queue.
    @available(*, noasync, message: "use waitUntilAllFinished() in a task")
    public func blockUntilAllFinished() throws(OperationError) {
        if let operation = WorkScope.current as? AnyOperation,
            OperationDomain.shared.look({ _ in operation.record.queue == id })
        {
            throw .waitsForItself(operation.name)
        }
        let thread = BlockedThread()
        if wait(.thread(thread), at: QoS.currentLevel) { thread.parker.park() }
    }

    private func wait(_ waiter: Waiter, at level: QoSLevel?) -> Bool {
        OperationDomain.shared.change { state, _ in
            guard state.graph.unfinishedCount(of: id) > 0 else { return false }
            state[id]?.waiters.append(waiter)
            if let level { state.raise(id, to: level) }
            return true
        }
    }

    private func raise(to level: QoSLevel) {
        OperationDomain.shared.change { state, _ in state.raise(id, to: level) }
    }
}
