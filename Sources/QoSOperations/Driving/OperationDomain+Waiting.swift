import QoSCore
import QoSKernel
import QoSRuntime

extension OperationDomain {
    /// What can be waited for until it is over.
    enum Awaited {
        case operation(AnyOperation)
        case queue(OperationQueueID)
    }

    /// Suspends the calling task until that is over; it is raised to the task's level, now and whenever that rises.
    func finished(_ awaited: Awaited) async throws(OperationError) {
        if isOver(awaited) { return }
        let begun = try waitBegins(for: awaited)
        await withRaiseHandler(for: self) {
            await withCheckedContinuation { continuation in
                // The level is looked at with the handler in place, and again once the waiter is known: a raise between would come to
                // nobody.
                let level = QoS.currentLevel
                guard self.wait(.task(continuation), for: awaited, at: level) else { return continuation.resume() }
                if let latest = QoS.currentLevel, latest != level { self.raise(awaited, to: latest) }
            }
        } raised: { domain, level in
            domain.raise(awaited, to: level)
        }
        if let begun { waitEnded(begun) }
    }

    /// Blocks the calling thread until that is over, raised to the thread's level.
    func blockUntilFinished(_ awaited: Awaited) throws(OperationError) {
        if isOver(awaited) { return }
        let begun = try waitBegins(for: awaited)
        if InversionDetection.isOn { reportSleep(for: awaited) }
        let thread = BlockedThread()
        if wait(.thread(thread), for: awaited, at: QoS.currentLevel) { thread.parker.park() }
        if let begun { waitEnded(begun) }
    }

    /// A worker that sleeps is missing in its pool (rule I5).
    private func reportSleep(for awaited: Awaited) {
        let remedy = "a thread of a pool sleeps for an operation: await value or finished() instead"
        switch awaited {
        case .operation(let operation):
            InversionDetection.reportSleep(
                for: "the end of operation '\(operation.name)'", holder: "operation '\(operation.name)'",
                at: operation.effectiveLevel, remedy: remedy)
        case .queue(let queue):
            InversionDetection.reportSleep(
                for: "the end of all operations of \(queue)", holder: "its operations", at: nil, remedy: remedy)
        }
    }

    private func isOver(_ awaited: Awaited) -> Bool {
        look { state in
            switch awaited {
            case .operation(let operation):
                if case .finished = operation.record.phase { true } else { false }
            case .queue(let queue): state.graph.unfinishedCount(of: queue) == 0
            }
        }
    }

    private func wait(_ waiter: Waiter, for awaited: Awaited, at level: QoSLevel?) -> Bool {
        change { state, _ in
            switch awaited {
            case .operation(let operation):
                if case .finished = operation.record.phase { return false }
                operation.record.waiters.append(waiter)
                if let level { state.raise(operation, to: level) }
            case .queue(let queue):
                guard state.graph.unfinishedCount(of: queue) > 0 else { return false }
                state[queue]?.waiters.append(waiter)
                if let level { state.raise(queue, to: level) }
            }
            return true
        }
    }

    /// Raises what somebody waits for (rule O9).
    private func raise(_ awaited: Awaited, to level: QoSLevel) {
        change { state, _ in
            switch awaited {
            case .operation(let operation): state.raise(operation, to: level)
            case .queue(let queue): state.raise(queue, to: level)
            }
        }
    }

    // MARK: Waits in operations

    /// The calling code begins to wait; if an operation cannot end before it goes on, the graph learns of it.
    ///
    /// That is the operation's own task, and the children of that, which end before it does. Other tasks that an operation has started
    /// are no part of it: it may end before they do.
    ///
    /// - Returns: the operation's wait; `nil` for other code.
    /// - Throws: ``OperationError/waitsForItself(_:)``; ``OperationError/deadlock(_:)``.
    private func waitBegins(for awaited: Awaited) throws(OperationError) -> OperationGraph.BegunWait? {
        guard let waiter = WorkScope.task as? AnyOperation else { return nil }
        return try look { (state) throws(OperationError) in
            guard let id = waiter.record.id, waiter.record.runner?.isEnteredByCaller == true else { return nil }
            do throws(OperationGraphError) {
                switch awaited {
                case .operation(let operation):
                    if operation === waiter { throw .deadlock([]) }
                    if case .finished = operation.record.phase { return nil }
                    return try state.graph.waitBegan(by: id, for: state.id(of: operation))
                case .queue(let queue):
                    if waiter.record.queue == queue { throw .deadlock([]) }
                    return try state.graph.waitBegan(by: id, for: queue)
                }
            } catch {
                throw state.operationError(error, of: waiter)
            }
        }
    }

    private func waitEnded(_ wait: OperationGraph.BegunWait) {
        look { $0.graph.waitEnded(wait) }
    }
}

extension DomainState {
    fileprivate mutating func raise(_ operation: AnyOperation, to level: QoSLevel) {
        if case .finished = operation.record.phase { return }
        graph.operationWaitedFor(id(of: operation), at: level, &effects)
    }
}
