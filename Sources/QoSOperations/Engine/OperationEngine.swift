import Glibc
import QoSCore
import QoSKernel
import QoSRuntime
import Synchronization

/// All operations of the process and their queues: one graph behind one lock. So dependencies may cross queues and
/// schedulers.
///
/// The lock is held for some hundred nanoseconds at a time. An operation needs it twice: when it is added, and when it
/// has ended and the next one is chosen. A batch handles ``operationsAtOnce`` operations under the lock. Then other
/// threads get the lock before the rest is handled, so no request waits for a whole batch.
///
/// Threading: any thread.
final class OperationEngine: Sendable {
    static let shared = OperationEngine()

    private let state = Lock(EngineState())
    private let waiting = Atomic(0)

    /// The number of operations that a runner runs before the pool's other work gets its turn.
    private static let streak = 16

    /// The number of operations that are added, started or cancelled under one hold of the lock. Lists with barriers
    /// are checked and added as one. Starting counts apart from the others, so the sum may be twice as large.
    static let operationsAtOnce = 64

    /// The number of rounds in which a thread with more to do leaves the lock to others. They last some ten
    /// microseconds, about the time to wake a thread.
    private static let roundsToGiveWay = 64

    /// Runs a change of the graph under the lock, and its actions outside.
    func change<Success, Failure: Error>(
        _ body: (inout EngineState, inout EngineActions) throws(Failure) -> Success
    ) throws(Failure) -> Success {
        var actions = EngineActions()
        defer { performAll(actions) }
        return try locked { (state) throws(Failure) -> Success in
            defer { state.collect(&actions) }
            return try body(&state, &actions)
        }
    }

    /// Reads the graph under the lock.
    func look<Success, Failure: Error>(
        _ body: (inout EngineState) throws(Failure) -> Success
    ) throws(Failure) -> Success {
        try locked(body)
    }

    /// Runs a body under the lock, and counts the threads that have to wait for it.
    private func locked<Success, Failure: Error>(
        _ body: (inout EngineState) throws(Failure) -> Success
    ) throws(Failure) -> Success {
        if let success = try state.withLockIfAvailable({ (state) throws(Failure) -> Success in try body(&state) }) {
            return success
        }
        waiting.add(1, ordering: .relaxed)
        return try state.withLock { (state) throws(Failure) -> Success in
            waiting.subtract(1, ordering: .relaxed)
            return try body(&state)
        }
    }

    /// Lets waiting threads take the lock. The lock is not fair: a thread that takes it again at once gets it again.
    func giveWay() {
        var rounds = 0
        while rounds < Self.roundsToGiveWay, waiting.load(ordering: .relaxed) > 0 {
            sched_yield()
            rounds += 1
        }
    }

    // MARK: Effects

    private func performAll(_ actions: consuming EngineActions) {
        perform(actions)
        var isUnfinished = actions.isUnfinished
        while isUnfinished {
            giveWay()
            var more = EngineActions()
            locked { state in
                state.graph.startedSome(&state.effects)
                state.collect(&more)
            }
            perform(more)
            isUnfinished = more.isUnfinished
        }
    }

    private func perform(_ actions: EngineActions) {
        // Nearly all of them are empty nearly always, which costs less to ask than a loop over nothing.
        if !actions.starts.isEmpty { start(actions.starts) }
        if !actions.requests.isEmpty { for request in actions.requests { request.perform() } }
        if !actions.waiters.isEmpty { for waiter in actions.waiters { waiter.resume() } }
        if !actions.refused.isEmpty { for refused in actions.refused { refused.waiter.resume(refused.error) } }
        if !actions.progress.isEmpty { for progress in actions.progress { progress.finish() } }
        if !actions.observers.isEmpty { for report in actions.observers { report.send() } }
        if !actions.watchers.isEmpty { for watcher in actions.watchers { watcher.yield() } }
        if !actions.completions.isEmpty { for completion in actions.completions { completion.start() } }
        if !actions.buried.isEmpty { for operation in actions.buried { operation.bury() } }
    }

    private func start(_ starts: [EngineActions.Start]) {
        var tasks: [Task<Void, Never>] = []
        tasks.reserveCapacity(starts.count)
        for start in starts {
            let (operation, runner) = (start.operation, start.runner)
            let executor = runner.scheduler.executor(for: runner.level)
            let priority = runner.level.qosClass.taskPriority
            tasks.append(
                start.asksConditions
                    ? Task.detached(executorPreference: executor, priority: priority) {
                        await self.askConditions(of: operation, runner)
                    }
                    : Task.detached(executorPreference: executor, priority: priority) {
                        await self.run(operation, runner)
                    })
        }
        let requests = locked { _ in zip(starts, tasks).map { $0.runner.started($1) } }
        for request in requests { request.perform() }
    }

    // MARK: Running

    /// Runs an operation, and then others of its class as long as there are some.
    private func run(_ first: BaseOperation, _ runner: Runner) async {
        var operation = first
        var streak = 0
        while true {
            let failure = await WorkScope.$task.withValue(operation) { [operation] in
                runner.entered()
                return await operation.inContext { await operation.runBody() }
            }
            guard let next = bodyEnded(operation, failure, runner) else { return }
            operation = next
            streak += 1
            if streak % Self.streak == 0 { await Task.yield() }
        }
    }

    private func bodyEnded(_ operation: BaseOperation, _ failure: (any Error)?, _ runner: Runner) -> BaseOperation? {
        var actions = EngineActions()
        // The body may have cancelled its own task, which then runs no other operation.
        let reused = Task.isCancelled ? nil : runner
        locked { state in
            state.finish(operation, Self.outcome(of: failure, runner), &actions)
            state.collect(&actions, reusing: reused)
            if actions.next == nil { runner.ended() }
        }
        let next = actions.next
        performAll(actions)
        return next
    }

    private static func outcome(of failure: (any Error)?, _ runner: Runner) -> OperationOutcome {
        guard let failure else { return .succeeded }
        return runner.isCancelled || failure is CancellationError ? .cancelled : .failed
    }

    private func askConditions(of operation: BaseOperation, _ runner: Runner) async {
        let failure = await WorkScope.$task.withValue(operation) {
            runner.entered()
            return await operation.inContext { await operation.askConditions(on: runner.scheduler) }
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
