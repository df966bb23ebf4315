import QoSCore
import QoSRuntime

/// The graph of an engine, and the objects behind its identifiers.
///
/// Threading: under the engine's lock.
struct EngineState: Sendable {
    var graph = OperationGraph(startsAtOnce: OperationEngine.operationsAtOnce)
    var effects = OperationEffects()
    /// The operations that are in queues and have not finished.
    private var operations: [BaseOperation?] = []
    private var queues: [EngineQueue?] = []
    /// The names of operations that the graph knows and that have one, for errors.
    private var names: [OperationID: String] = [:]

    /// The targets of waits that may have to end without them.
    var awaitedInHope: [OperationGraph.BegunWait: BaseOperation] = [:]

    /// The number of operations that were added, started or cancelled since the lock was taken, and its maximum.
    private var handled = 0
    private(set) var mostHandled = 0

    // MARK: Tables

    /// Returns the operation's identity in the graph, and makes one for a new operation.
    mutating func id(of operation: BaseOperation) -> OperationID {
        if let id = operation.record.id { return id }
        let id = graph.operationCreated(
            assigned: operation.record.requested, origin: operation.record.origin, policy: operation.policy,
            isBarrier: operation.isBarrier, hasConditions: operation.hasConditions)
        operation.record.id = id
        names[id] = operation.givenName
        return id
    }

    /// The name of an operation that the graph knows.
    func name(of id: OperationID) -> String { names[id] ?? "\(id)" }

    /// Forgets an operation that was never added and is gone.
    mutating func forget(_ id: OperationID) {
        graph.forget(id, &effects)
        if !names.isEmpty { names[id] = nil }
    }

    mutating func keep(_ operation: BaseOperation, _ id: OperationID) {
        let index = Int(id.index)
        if index >= operations.count {
            operations.append(contentsOf: repeatElement(nil, count: max(index + 1, 64) - operations.count))
        }
        operations[index] = operation
    }

    /// Returns the operation of an identifier in an effect. The operation is in a queue.
    func operation(_ id: OperationID) -> BaseOperation? {
        Int(id.index) < operations.count ? operations[Int(id.index)] : nil
    }

    mutating func add(_ queue: EngineQueue, as id: OperationQueueID) {
        let index = Int(id.index)
        if index >= queues.count { queues.append(contentsOf: repeatElement(nil, count: index + 1 - queues.count)) }
        queues[index] = queue
    }

    subscript(queue: OperationQueueID) -> EngineQueue? {
        get { queues[Int(queue.index)] }
        _modify { yield &queues[Int(queue.index)] }
    }

    /// Counts an operation that was added to a queue.
    ///
    /// - Returns: the highest level of a wait for the whole queue; `nil` without one.
    mutating func countAdded(to queue: OperationQueueID) -> QoSLevel? {
        queues[Int(queue.index)]?.added += 1
        return queues[Int(queue.index)]?.waitedAt
    }

    /// Sets the level of a wait for a queue (rule O9).
    mutating func raise(_ queue: OperationQueueID, to level: QoSLevel) {
        // One that was raised after its wait was over changes nothing.
        guard let record = queues[Int(queue.index)], !record.waiters.isEmpty else { return }
        queues[Int(queue.index)]?.waitedAt = level.raised(to: record.waitedAt)
        graph.queueWaitedFor(queue, at: level, &effects)
    }

    /// Counts operations that were added, started or cancelled while the lock is held.
    mutating func countHandled(_ count: Int = 1) {
        handled += count
    }

    /// Adds the watchers of an operation to those that are woken.
    func wakeWatchers(of operation: BaseOperation, _ actions: inout EngineActions) {
        guard let watchers = operation.record.watchers else { return }
        actions.watchers.append(contentsOf: watchers.observers.values)
    }

    // MARK: Endings

    /// Ends an operation: tells the graph, which forgets it.
    mutating func finish(_ operation: BaseOperation, _ outcome: OperationOutcome, _ actions: inout EngineActions) {
        operation.record.finalLevel = level(of: operation)
        if let id = operation.record.id { graph.operationFinished(id, outcome, &effects) }
        conclude(operation, outcome, &actions)
    }

    /// The level that an operation has or will have, if it is known.
    func level(of operation: BaseOperation) -> QoSLevel? {
        let record = operation.record
        if let id = record.id { return graph.level(of: id) }
        if case .finished = record.phase { return record.finalLevel }
        return record.requested ?? record.origin.operation ?? record.origin.fallback
    }

    /// Ends an operation's waits and progress. They exist whether the graph knew the operation or not.
    private mutating func conclude(
        _ operation: BaseOperation, _ outcome: OperationOutcome, _ actions: inout EngineActions
    ) {
        if let id = operation.record.id {
            forget(id)
            if Int(id.index) < operations.count { operations[Int(id.index)] = nil }
            operation.record.id = nil
        }
        operation.record.phase = .finished(outcome)
        operation.record.runner = nil
        if !operation.record.waiters.isEmpty {
            actions.waiters.append(contentsOf: operation.record.waiters)
            operation.record.waiters = []
        }
        if let progress = operation.record.progress { actions.progress.append(progress) }
        if let watchers = operation.record.watchers { tell(watchers, of: operation, outcome, &actions) }
        if let queue = operation.record.queue { count(endIn: queue, &actions) }
    }

    private mutating func tell(
        _ watchers: OperationWatchers, of operation: BaseOperation, _ outcome: OperationOutcome,
        _ actions: inout EngineActions
    ) {
        actions.watchers.append(contentsOf: watchers.observers.values)
        operation.record.watchers = nil
        guard !watchers.completions.isEmpty else { return }
        let scheduler = operation.record.queue.flatMap { self[$0]?.scheduler }
        actions.completions.append(
            .init(
                operation: operation, outcome: outcome, scheduler: scheduler,
                qosClass: operation.record.finalLevel?.qosClass ?? .default, bodies: watchers.completions))
    }

    private mutating func count(endIn queue: OperationQueueID, _ actions: inout EngineActions) {
        queues[Int(queue.index)]?.finished += 1
        if let report = queues[Int(queue.index)]?.report() { actions.observers.append(report) }
    }

    // MARK: Effects

    /// Turns the graph's effects into actions on operations, tasks and waiters.
    ///
    /// - Parameter runner: the runner of an operation that has just ended. It goes on with an operation that it may
    ///   run.
    mutating func collect(_ actions: inout EngineActions, reusing runner: Runner? = nil) {
        collectStarts(&actions, reusing: runner)
        for promotion in effects.raised where promotion.isRunning {
            if let request = operation(promotion.operation)?.record.runner?.raised(to: promotion.new.qosClass) {
                actions.requests.append(request)
            }
        }
        for finish in effects.finished { endUnrun(finish, &actions) }
        for queue in effects.idle where graph.unfinishedCount(of: queue) == 0 { becameIdle(queue, &actions) }
        graph.endHopelessWaits(&effects)
        for refusal in effects.refused { refuse(refusal, &actions) }
        effects.removeAll()
        actions.isUnfinished = graph.hasMoreToStart
        if handled > mostHandled { mostHandled = handled }
        handled = 0
    }

    /// Resumes the waiter of a wait that the graph has ended.
    private mutating func refuse(_ refusal: OperationEffects.Refusal, _ actions: inout EngineActions) {
        var waiter: Waiter?
        switch refusal.target {
        case .operation(let id):
            // One that is in no queue yet is known only to its waiters.
            let awaited = awaitedInHope.removeValue(forKey: refusal.wait) ?? operation(id)
            waiter = awaited?.record.waiters.take(refusal.wait)
        case .queue(let queue):
            waiter = self[queue]?.waiters.take(refusal.wait)
            if self[queue]?.waiters.isEmpty == true { self[queue]?.waitedAt = nil }
        }
        if let waiter { actions.refused.append((waiter, deadlock(refusal.circle))) }
    }

    /// Starts what has come to its turn. What was cancelled with others ends instead, whose ends may start more.
    private mutating func collectStarts(_ actions: inout EngineActions, reusing runner: Runner?) {
        var runner = runner
        var (due, started) = (0, 0)
        while true {
            if due < effects.conditionsDue.count {
                let id = effects.conditionsDue[due]
                due += 1
                if !endCancelled(id, &actions) { start(id, asksConditions: true, nil, &actions) }
            } else if started < effects.started.count {
                let id = effects.started[started]
                started += 1
                if !endCancelled(id, &actions), start(id, asksConditions: false, runner, &actions) { runner = nil }
            } else {
                return
            }
        }
    }

    /// Ends an operation that has come to its turn though it was cancelled: many are cancelled in pieces, and the end
    /// of one piece may let in an operation of the next (rule O11).
    ///
    /// - Returns: `false` if the operation was not cancelled.
    private mutating func endCancelled(_ id: OperationID, _ actions: inout EngineActions) -> Bool {
        guard let operation = operation(id), operation.record.isCancelled else { return false }
        handled += 1
        operation.keep(CancellationError())
        finish(operation, .cancelled, &actions)
        actions.buried.append(operation)
        return true
    }

    @discardableResult
    private mutating func start(
        _ id: OperationID, asksConditions: Bool, _ runner: Runner?, _ actions: inout EngineActions
    ) -> Bool {
        guard let operation = operation(id), let queue = operation.record.queue, let scheduler = self[queue]?.scheduler
        else { return false }
        let level = graph.level(of: id) ?? .default
        handled += 1
        wakeWatchers(of: operation, &actions)
        if let runner, runner.mayRun(level, on: scheduler) {
            operation.record.runner = runner
            actions.next = operation
            return true
        }
        let runner = Runner(scheduler: scheduler, level: level)
        operation.record.runner = runner
        actions.starts.append(.init(operation: operation, runner: runner, asksConditions: asksConditions))
        return false
    }

    /// Ends an operation because one of its dependencies failed or was cancelled (rule O11).
    private mutating func endUnrun(_ finish: OperationEffects.Finish, _ actions: inout EngineActions) {
        guard let operation = operation(finish.operation) else { return }
        // Whoever cancels many of them means each, whichever comes first.
        let isCancelled = operation.record.isCancelled
        operation.keep(isCancelled ? CancellationError() : OperationError.dependencyFailed(operation.name))
        operation.record.finalLevel = level(of: operation)
        if let runner = operation.record.runner { actions.requests.append(runner.cancelled()) }
        conclude(operation, isCancelled ? .cancelled : finish.outcome, &actions)
        actions.buried.append(operation)
    }

    private mutating func becameIdle(_ queue: OperationQueueID, _ actions: inout EngineActions) {
        if let waiters = self[queue]?.waiters, !waiters.isEmpty {
            actions.waiters.append(contentsOf: waiters)
            self[queue]?.waiters = []
        }
        self[queue]?.waitedAt = nil
        if graph.queueIdle(queue) { remove(queue, &actions) }
    }

    /// Removes a released queue, which is empty.
    mutating func remove(_ queue: OperationQueueID, _ actions: inout EngineActions) {
        if let record = queues[Int(queue.index)] { actions.released.append(record.scheduler) }
        if let report = queues[Int(queue.index)]?.report(isLast: true) { actions.observers.append(report) }
        queues[Int(queue.index)] = nil
    }
}
