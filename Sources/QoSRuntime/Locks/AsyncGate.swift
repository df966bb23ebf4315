import QoSCore
import QoSKernel
import Synchronization

/// Permits for tasks: what ``AsyncMutex`` and ``AsyncSemaphore`` are made of.
///
/// A task that finds no permit is suspended and entered into the graph of waits; whoever gives a permit back hands it to the highest
/// waiter. Holders are in the graph only while somebody waits.
///
/// Threading: any thread. Lock order: the gate's state, then the registry's; continuations are resumed and tasks raised outside of
/// both.
final class AsyncGate: Sendable {
    private struct State {
        var available: Int
        /// The tasks with a permit, once for each.
        var holders: [TaskAddress] = []
        /// Permits that were taken by tasks and may be given back by anybody.
        var unowned = 0
        var waits: [TaskAddress: AsyncWait] = [:]
    }

    /// What reports and errors call it.
    let description: String
    private let state: Lock<State>

    init(permits: Int, description: String) {
        self.description = description
        state = Lock(State(available: permits))
    }

    /// How many tasks wait at this moment.
    var waiterCount: Int { state.withLock { $0.waits.count } }

    private var resource: LockResource {
        .lock(UInt(bitPattern: unsafe Unmanaged.passUnretained(self).toOpaque()))
    }

    /// Takes a permit, waiting for one if need be.
    ///
    /// - Parameter isOwned: whether the calling task gives it back itself, and so is raised while somebody waits.
    /// - Throws: `CancellationError` when the task is cancelled before it got a permit; ``LockError``.
    func acquire(isOwned: Bool) async throws {
        guard let task = ConcurrencyRuntime.currentTask else { preconditionFailure("async code runs in a task") }
        if state.withLock({ Self.takeAvailable(&$0, task, isOwned: isOwned) }) { return }
        let wait = AsyncWait(task: task, isOwned: isOwned)
        try await withTaskCancellationHandler {
            try await withRaiseHandler(for: wait) {
                try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                    begin(wait, continuation)
                }
            } raised: { wait, level in
                escalated(wait, to: level)
            }
        } onCancel: {
            cancel(wait)
        }
        // What the one before did with what the permit guards comes before this, also where the continuation was resumed before the
        // task was suspended, and no queue was on the way.
        _ = wait.isHandedOver.load(ordering: .acquiring)
    }

    /// Takes a permit if there is one at this moment. For a calling task.
    func acquireIfAvailable(isOwned: Bool) -> Bool {
        guard let task = ConcurrencyRuntime.currentTask else { return false }
        return state.withLock { Self.takeAvailable(&$0, task, isOwned: isOwned) }
    }

    private static func takeAvailable(_ state: inout State, _ task: TaskAddress, isOwned: Bool) -> Bool {
        guard state.available > 0 else { return false }
        state.available -= 1
        if isOwned { state.holders.append(task) } else { state.unowned += 1 }
        return true
    }

    // MARK: Waiting

    private enum Beginning {
        case acquired
        case cancelled
        case refused(LockRegistry.Cycle)
        case waits([LockRaise], holder: LockParty?, isBeyondDepth: Bool)
    }

    private func begin(_ wait: AsyncWait, _ continuation: CheckedContinuation<Void, any Error>) {
        let waiter = LockWaiter(
            party: .task(wait.task), name: Task.name.map { "task '\($0)'" }, level: QoS.currentLevel,
            lockName: description)
        let beginning = state.withLock { state -> Beginning in
            if wait.isCancelled { return .cancelled }
            if Self.takeAvailable(&state, wait.task, isOwned: wait.isOwned) { return .acquired }
            return register(wait, continuation, at: waiter.level, &state)
        }
        switch beginning {
        case .acquired:
            continuation.resume()
        case .cancelled:
            continuation.resume(throwing: CancellationError())
        case .refused(let cycle):
            continuation.resume(throwing: waiter.refusedLock(by: cycle))
        case .waits(let raises, let holder, let isBeyondDepth):
            waiter.perform(raises)
            if isBeyondDepth, let holder {
                waiter.report(
                    .unresolvedInversion, holder: holder,
                    "the chain of locks is too long to be raised: hold fewer locks at a time")
            }
        }
    }

    private func register(
        _ wait: AsyncWait, _ continuation: CheckedContinuation<Void, any Error>, at level: QoSLevel?,
        _ state: inout State
    ) -> Beginning {
        let (holders, isFirst) = (state.holders, state.waits.isEmpty)
        let mayBeFreedByOthers = state.unowned > 0 || holders.isEmpty
        let beginning = LockRegistry.shared.state.withLock { registry -> Beginning in
            if isFirst { for holder in holders { _ = registry.graph.acquired(.task(holder), resource) } }
            let awaits = registry.awaits
            do throws(LockRegistry.Cycle) {
                let latest = wait.escalated.map { max($0, level ?? $0) } ?? level
                let outcome = try registry.graph.waits(
                    .task(wait.task), at: latest, for: resource, mayBeFreedByOthers: mayBeFreedByOthers,
                    blockers: { awaits.blockers(of: $0) })
                return .waits(
                    registry.note(outcome.raises), holder: holders.first.map { .task($0) },
                    isBeyondDepth: outcome.isBeyondDepth)
            } catch {
                if isFirst { for holder in holders { _ = registry.graph.released(.task(holder), resource) } }
                return .refused(error)
            }
        }
        if case .waits = beginning {
            wait.continuation = continuation
            state.waits[wait.task] = wait
        }
        return beginning
    }

    /// The waiting task was raised by whoever waits for it: so is the holder.
    private func escalated(_ wait: AsyncWait, to level: QoSLevel) {
        let raises = state.withLock { state -> [LockRaise] in
            guard state.waits[wait.task] === wait else {
                wait.escalated = level
                return []
            }
            return LockRegistry.shared.state.withLock { registry in
                let changes = registry.graph.levelChanged(.task(wait.task), to: level)
                return registry.note(changes)
            }
        }
        // What cannot be raised was reported when the wait began.
        for raise in raises { _ = raise.perform() }
    }

    private func cancel(_ wait: AsyncWait) {
        let (continuation, raises) = state.withLock { state -> (CheckedContinuation<Void, any Error>?, [LockRaise]) in
            wait.isCancelled = true
            guard state.waits[wait.task] === wait else { return (nil, []) }
            state.waits[wait.task] = nil
            let raises = LockRegistry.shared.state.withLock { registry in
                var changes = registry.graph.stoppedWaiting(.task(wait.task))
                changes += forgetHolders(state, &registry)
                return registry.note(changes)
            }
            return (wait.continuation.take(), raises)
        }
        for raise in raises { _ = raise.perform() }
        continuation?.resume(throwing: CancellationError())
    }

    /// Whom nobody waits for, the graph need not know.
    private func forgetHolders(_ state: State, _ registry: inout LockRegistry.State) -> [WaitRaise<LockParty>] {
        guard state.waits.isEmpty else { return [] }
        return state.holders.flatMap { registry.graph.released(.task($0), resource) }
    }

    // MARK: Giving back

    /// Gives a permit back; it goes to the highest waiter, among equals to the first. Any thread.
    ///
    /// - Parameter task: the task that owns it; `nil` for one that nobody owns.
    func release(ownedBy task: TaskAddress?) {
        let (continuation, raises) = state.withLock { state -> (CheckedContinuation<Void, any Error>?, [LockRaise]) in
            if let task {
                if let place = state.holders.firstIndex(of: task) { state.holders.remove(at: place) }
            } else {
                state.unowned = max(0, state.unowned - 1)
            }
            if state.waits.isEmpty {
                state.available += 1
                return (nil, [])
            }
            return handOver(from: task, &state)
        }
        continuation?.resume()
        for raise in raises { _ = raise.perform() }
    }

    private func handOver(
        from task: TaskAddress?, _ state: inout State
    ) -> (CheckedContinuation<Void, any Error>?, [LockRaise]) {
        LockRegistry.shared.state.withLock { registry -> (CheckedContinuation<Void, any Error>?, [LockRaise]) in
            var (next, changes) = registry.graph.handedOver(resource, from: task.map { .task($0) })
            guard case .task(let address)? = next, let wait = state.waits.removeValue(forKey: address) else {
                state.available += 1
                return (nil, registry.note(changes))
            }
            wait.isHandedOver.store(true, ordering: .releasing)
            if wait.isOwned {
                state.holders.append(address)
            } else {
                state.unowned += 1
                changes += registry.graph.released(.task(address), resource)
            }
            changes += forgetHolders(state, &registry)
            return (wait.continuation.take(), registry.note(changes))
        }
    }
}

/// One task's wait for a permit.
// SAFETY: the variables are touched under the gate's lock only.
final class AsyncWait: @unchecked Sendable {
    let task: TaskAddress
    let isOwned: Bool
    /// Whether somebody has given a permit to it.
    let isHandedOver = Atomic<Bool>(false)
    var isCancelled = false
    /// What the task was raised to before it was entered into the graph of waits.
    var escalated: QoSLevel?
    var continuation: CheckedContinuation<Void, any Error>?

    init(task: TaskAddress, isOwned: Bool) {
        self.task = task
        self.isOwned = isOwned
    }
}
