import QoSCore
import QoSKernel
import QoSRuntime

/// All operations of the process and their queues: one graph behind one lock, so that dependencies may cross queues and
/// schedulers.
///
/// The lock is held for some hundred nanoseconds at a time, twice in the life of an operation: when it is added, and when it
/// has ended and the next one is chosen. Adding many at once takes it once.
///
/// Threading: any thread.
final class OperationDomain: Sendable {
    static let shared = OperationDomain()

    private let state = Lock(DomainState())

    /// How many operations a runner runs before the pool's other work gets its turn.
    private static let streak = 16

    /// Runs a change of the graph under the lock, and does what follows from it outside.
    func change<Success, Failure: Error>(
        _ body: (inout DomainState, inout DomainActions) throws(Failure) -> Success
    ) throws(Failure) -> Success {
        var actions = DomainActions()
        defer { perform(actions) }
        return try state.withLock { (state) throws(Failure) -> Success in
            defer { state.collect(&actions) }
            return try body(&state, &actions)
        }
    }

    /// Looks at the graph under the lock.
    func look<Success>(_ body: (inout DomainState) -> Success) -> Success {
        state.withLock { body(&$0) }
    }

    // MARK: Effects

    private func perform(_ actions: consuming DomainActions) {
        if !actions.starts.isEmpty { start(actions.starts) }
        for request in actions.requests { request.perform() }
        for waiter in actions.waiters { waiter.resume() }
        for progress in actions.progress { progress.finish() }
        for report in actions.observers { report.send() }
        for operation in actions.buried { operation.buryBody() }
    }

    private func start(_ starts: [DomainActions.Start]) {
        var tasks: [Task<Void, Never>] = []
        tasks.reserveCapacity(starts.count)
        for start in starts {
            let (operation, runner) = (start.operation, start.runner)
            let executor = runner.scheduler.executor(for: runner.qosClass)
            let priority = runner.qosClass.taskPriority
            tasks.append(
                start.asksConditions
                    ? Task.detached(executorPreference: executor, priority: priority) {
                        await self.askConditions(of: operation, runner)
                    }
                    : Task.detached(executorPreference: executor, priority: priority) {
                        await self.run(operation, runner)
                    })
        }
        let requests = state.withLock { _ in zip(starts, tasks).map { $0.runner.started($1) } }
        for request in requests { request.perform() }
    }

    // MARK: Running

    /// Runs an operation, and then others of its class for as long as there are some.
    private func run(_ first: AnyOperation, _ runner: Runner) async {
        var operation = first
        var streak = 0
        while true {
            let failure = await WorkScope.$task.withValue(operation) { [operation] in
                await operation.runBodyInContext()
            }
            guard let next = bodyEnded(operation, failure, runner) else { return }
            operation = next
            streak += 1
            if streak % Self.streak == 0 { await Task.yield() }
        }
    }

    private func bodyEnded(_ operation: AnyOperation, _ failure: (any Error)?, _ runner: Runner) -> AnyOperation? {
        var actions = DomainActions()
        state.withLock { state in
            state.finish(operation, Self.outcome(of: failure, runner), &actions)
            state.collect(&actions, reusing: runner)
            if actions.next == nil { runner.ended() }
        }
        let next = actions.next
        perform(actions)
        return next
    }

    private static func outcome(of failure: (any Error)?, _ runner: Runner) -> OperationOutcome {
        guard let failure else { return .succeeded }
        return runner.isCancelled || failure is CancellationError ? .cancelled : .failed
    }

    private func askConditions(of operation: AnyOperation, _ runner: Runner) async {
        var failure: (any Error)?
        do {
            try await WorkScope.$task.withValue(operation) {
                for condition in operation.conditions { try await condition.met() }
            }
        } catch {
            failure = error
        }
        change { state, actions in
            runner.ended()
            // It may have been cancelled meanwhile.
            guard case .added = operation.record.phase, let id = operation.record.id else { return }
            operation.record.runner = nil
            guard let failure else { return state.graph.conditionsMet(id, &state.effects) }
            operation.keep(failure)
            state.finish(operation, .failed, &actions)
            actions.buried.append(operation)
        }
    }
}
