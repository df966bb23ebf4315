import QoSCore
import QoSKernel
import QoSRuntime

extension OperationEngine {
    /// A target of a wait.
    enum Awaited {
        case operation(BaseOperation)
        case queue(OperationQueueID)
    }

    /// Suspends the calling task until the target has ended. The target is raised to the task's level, also when that
    /// rises.
    ///
    /// - Parameter promotes: `false` for a wait that raises nothing.
    func waitUntilFinished(_ awaited: Awaited, promotes: Bool) async throws(OperationError) {
        if isOver(awaited) { return }
        let (begun, refusal) = await withRaiseHandler(for: self) {
            var begun: OperationGraph.BegunWait?
            let refusal = await withCheckedContinuation { continuation in
                // The level is looked at with the handler in place, and again once the waiter is known: a raise between
                // would come to nobody.
                let level = promotes ? QoS.waitingLevel : nil
                do throws(OperationError) {
                    guard let wait = try self.begin(.task(continuation), for: awaited, at: level) else {
                        return continuation.resume(returning: nil)
                    }
                    begun = wait.begun
                } catch {
                    return continuation.resume(returning: error)
                }
                if let level, QoS.waitingLevel != level { self.raise(awaited, to: QoS.waitingLevel) }
            }
            return (begun, refusal)
        } raised: { engine, level in
            if promotes { engine.raise(awaited, to: level) }
        }
        if let begun { waitEnded(begun) }
        if let refusal { throw refusal }
    }

    /// Suspends the calling task until all of the operations have ended. They are raised together, to the task's level,
    /// also when that rises. The last one is awaited first.
    func waitUntilFinished(all operations: [BaseOperation]) async throws(OperationError) {
        try await withRaiseHandler(for: self) { () async throws(OperationError) -> Void in
            // Looked at with the handler in place. The waits below look again.
            self.raise(operations, to: QoS.waitingLevel)
            for operation in operations.reversed() {
                try await self.waitUntilFinished(.operation(operation), promotes: true)
            }
        } raised: { engine, level in
            engine.raise(operations, to: level)
        }
    }

    /// Blocks the calling thread until the target has ended. The target is raised to the thread's level, also when that
    /// is the level of an operation and rises.
    func blockUntilFinished(_ awaited: Awaited) throws(OperationError) {
        if isOver(awaited) { return }
        let thread = BlockedThread()
        // With the level that it has before it is raised for this.
        let report = InversionDetection.isOn ? reportOfSleep(for: awaited) : nil
        let level = QoS.waitingLevel
        guard let wait = try begin(.thread(thread), for: awaited, at: level) else { return }
        // A raise before the wait was known would come to nobody. From here on the graph passes on those of operations.
        if QoS.waitingLevel != level { raise(awaited, to: QoS.waitingLevel) }
        report?()
        thread.parker.park()
        if let begun = wait.begun { waitEnded(begun) }
        if let refusal = thread.refusal.withLock({ $0 }) { throw refusal }
    }

    /// Reports a worker that sleeps, and so is missing in its pool (rule I5).
    private func reportOfSleep(for awaited: Awaited) -> () -> Void {
        let remedy = "a thread of a pool sleeps for an operation: await value or waitUntilFinished() instead"
        switch awaited {
        case .operation(let operation):
            let level = level(of: operation)
            return {
                InversionDetection.reportSleep(
                    for: "the end of operation '\(operation.name)'", holder: "operation '\(operation.name)'", at: level,
                    remedy: remedy)
            }
        case .queue(let queue):
            return {
                InversionDetection.reportSleep(
                    for: "the end of all operations of \(queue)", holder: "its operations", at: nil, remedy: remedy)
            }
        }
    }

    private func isOver(_ awaited: Awaited) -> Bool {
        look { $0.isOver(awaited) }
    }

    /// A wait that has begun. It names the waiting operation, if there is one.
    private struct Wait {
        let begun: OperationGraph.BegunWait?
    }

    /// Begins a wait, in the graph and for the waiter, in one step. In two steps, the queue could become idle between
    /// them and get more operations. The graph would then end the first wait, and not know of the second.
    ///
    /// - Returns: `nil` if the target has already ended.
    private func begin(
        _ sleeper: Waiter.Sleeper, for awaited: Awaited, at level: QoSLevel?
    ) throws(OperationError) -> Wait? {
        let caller = WorkScope.task as? BaseOperation
        return try change { (state, _) throws(OperationError) in
            guard !state.isOver(awaited) else { return nil }
            let wait = Wait(begun: try state.waitBegins(by: caller, for: awaited, promotes: level != nil))
            state.keep(Waiter(sleeper: sleeper, wait: wait.begun), for: awaited, at: level)
            return wait
        }
    }

    /// Raises the target of a wait (rule O9).
    private func raise(_ awaited: Awaited, to level: QoSLevel) {
        change { state, _ in
            switch awaited {
            case .operation(let operation): state.raise(operation, to: level)
            case .queue(let queue): state.raise(queue, to: level)
            }
        }
    }

    /// Raises operations that are waited for together, a piece at a time. They keep their order among themselves.
    private func raise(_ operations: [BaseOperation], to level: QoSLevel) {
        for piece in Self.pieces(of: operations) {
            giveWay()
            change { state, _ in
                for operation in piece { state.raise(operation, to: level, inOrder: true) }
            }
        }
    }

    private func waitEnded(_ wait: OperationGraph.BegunWait) {
        look { state in
            state.graph.waitEnded(wait)
            if !state.awaitedInHope.isEmpty { state.awaitedInHope[wait] = nil }
        }
    }
}

extension EngineState {
    fileprivate func isOver(_ awaited: OperationEngine.Awaited) -> Bool {
        switch awaited {
        case .operation(let operation):
            if case .finished = operation.record.phase { true } else { false }
        case .queue(let queue): graph.unfinishedCount(of: queue) == 0
        }
    }

    /// Begins a wait of the calling code. The graph learns of it if an operation cannot end before the code goes on.
    ///
    /// This is so for the operation's own task and its children, which end before the operation. Other tasks that an
    /// operation has started may outlive it.
    ///
    /// - Parameters:
    ///   - caller: the operation that runs the code.
    ///   - awaited: the target.
    ///   - promotes: whether the target rises with the operation.
    /// - Returns: the operation's wait; `nil` for other code.
    /// - Throws: ``OperationError/waitsForItself(_:)``; ``OperationError/deadlock(_:)``.
    fileprivate mutating func waitBegins(
        by caller: BaseOperation?, for awaited: OperationEngine.Awaited, promotes: Bool
    ) throws(OperationError) -> OperationGraph.BegunWait? {
        guard let caller, let id = caller.record.id, caller.record.runner?.isEnteredByCaller == true else { return nil }
        do throws(OperationGraphError) {
            switch awaited {
            case .operation(let operation):
                if operation === caller { throw .deadlock([]) }
                return try graph.waitBegan(by: id, for: self.id(of: operation), promotes: promotes)
            case .queue(let queue):
                if caller.record.queue == queue { throw .deadlock([]) }
                return try graph.waitBegan(by: id, for: queue, promotes: promotes)
            }
        } catch {
            throw operationError(error, of: caller)
        }
    }

    fileprivate mutating func keep(_ waiter: Waiter, for awaited: OperationEngine.Awaited, at level: QoSLevel?) {
        switch awaited {
        case .operation(let operation):
            operation.record.waiters.append(waiter)
            if let wait = waiter.wait, graph.isHopeful(wait) { awaitedInHope[wait] = operation }
            if let level { raise(operation, to: level) }
        case .queue(let queue):
            self[queue]?.waiters.append(waiter)
            if let level { raise(queue, to: level) }
        }
    }

    fileprivate mutating func raise(_ operation: BaseOperation, to level: QoSLevel, inOrder: Bool = false) {
        if case .finished = operation.record.phase { return }
        graph.operationWaitedFor(id(of: operation), at: level, inOrder: inOrder, &effects)
    }
}
