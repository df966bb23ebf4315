import QoSCore
import QoSKernel
import Synchronization

/// Permits for tasks: the base of ``AsyncMutex`` and ``AsyncSemaphore``.
///
/// A task that finds no permit is suspended in the gate's line. A returned permit goes to the highest waiter, one
/// in 16 to the longest one. The registry knows holders and waiters only while a task waits.
///
/// Threading: any thread. Lock order: the gate's state, then the registry's shards. Continuations are resumed and tasks
/// raised outside of both.
// SAFETY: as the base class; the one additional field never changes.
final class AsyncGate: PermitQueue, @unchecked Sendable {
    /// The gate's name in reports and errors.
    let description: String

    private static let registry = LockRegistry.shared

    init(permits: Int, description: String) {
        self.description = description
        super.init(permits: permits)
    }

    /// The number of tasks that wait at this moment.
    var waiterCount: Int { state.withLock { $0.site.line.count } }

    /// Takes a permit. Suspends the task until there is one.
    ///
    /// - Parameter isOwned: whether the calling task gives it back itself, and so is raised while other tasks wait.
    /// - Throws: `CancellationError` when the task is cancelled before it got a permit; ``LockError``.
    func acquire(isOwned: Bool) async throws {
        guard let task = ConcurrencyRuntime.currentTask else { preconditionFailure("async code runs in a task") }
        if state.withLock({ Self.takeAvailable(&$0, task, isOwned: isOwned) }) { return }
        let wait = AsyncWait(task: task, isOwned: isOwned)
        try await withTaskCancellationHandler {
            try await withRaiseHandler(for: wait) {
                try await unsafe withUnsafeThrowingContinuation {
                    (continuation: UnsafeContinuation<Void, any Error>) in
                    unsafe begin(wait, continuation)
                }
            } raised: { wait, level in
                self.escalated(wait, to: level)
            }
        } onCancel: {
            cancel(wait)
        }
        // Orders the previous holder's accesses to the guarded value before this task's. This also holds if the
        // continuation was resumed before the task was suspended, without a queue on the way.
        _ = wait.isHandedOver.load(ordering: .acquiring)
    }

    /// Takes a permit if there is one at this moment. Called by a task.
    func acquireIfAvailable(isOwned: Bool) -> Bool {
        guard let task = ConcurrencyRuntime.currentTask else { return false }
        return state.withLock { Self.takeAvailable(&$0, task, isOwned: isOwned) }
    }

    private static func takeAvailable(_ state: inout State, _ task: TaskAddress, isOwned: Bool) -> Bool {
        guard state.available > 0 else { return false }
        state.available -= 1
        if isOwned { state.site.holders.append(.task(task)) } else { state.unowned += 1 }
        return true
    }

    // MARK: Waiting

    private enum Beginning {
        case acquired
        case cancelled
        case waits(LockEffects, holder: LockParticipant?)
    }

    private func begin(_ wait: AsyncWait, _ continuation: UnsafeContinuation<Void, any Error>) {
        let (level, own) = (QoS.waitingLevel, LevelCode(LevelScope.callingClass.map { QoSLevel($0) }))
        let beginning = state.withLock { state -> Beginning in
            if wait.isCancelled { return .cancelled }
            wait.own = own
            if Self.takeAvailable(&state, wait.task, isOwned: wait.isOwned) { return .acquired }
            unsafe wait.continuation = continuation
            let effects = enter(wait, at: max(LevelCode(level), wait.escalated), &state.site)
            return .waits(effects, holder: state.site.holders.first)
        }
        switch beginning {
        case .acquired:
            unsafe continuation.resume()
        case .cancelled:
            unsafe continuation.resume(throwing: CancellationError())
        case .waits(let effects, let holder):
            if effects.isEmpty { return }
            let waiter = LockWaiter(
                party: .task(wait.task), name: Task.name.map { "task '\($0)'" }, level: level, lockName: description)
            follow(effects, of: wait, waiter, holder: holder)
        }
    }

    private func enter(_ wait: AsyncWait, at level: LevelCode, _ site: inout LockQueue) -> LockEffects {
        var effects = LockEffects()
        let token = unsafe UInt(bitPattern: Unmanaged.passRetained(wait).toOpaque())
        wait.place = Self.registry.begin(
            .task(wait.task), at: level, for: resource, token: token, &site, &effects)
        return effects
    }

    /// Applies the effects of a wait that has begun. The wait may be over by now.
    private func follow(
        _ effects: consuming LockEffects, of wait: AsyncWait, _ waiter: LockWaiter, holder: LockParticipant?
    ) {
        if effects.mayCloseCircle {
            var continuation: UnsafeContinuation<Void, any Error>?
            var withdrawal = LockEffects()
            let circle = Self.registry.refuse(waiter.party) { _ in
                unsafe continuation = leave(wait, &withdrawal)
                return unsafe continuation != nil
            }
            if let circle {
                Self.registry.follow(&effects)
                effects.performRefused(isAwaited: waiterCount > 0)
                Self.registry.follow(&withdrawal)
                withdrawal.perform()
                unsafe continuation?.resume(throwing: waiter.refusedLock(by: circle))
                return
            }
        }
        Self.registry.follow(&effects)
        waiter.perform(effects, holder: holder)
    }

    /// Raises the holder: a waiter of the waiting task has raised that task.
    private func escalated(_ wait: AsyncWait, to level: QoSLevel) {
        var effects = LockEffects()
        state.withLock { state in
            wait.escalated = max(wait.escalated, LevelCode(level))
            if let place = wait.place {
                Self.registry.raised(
                    .task(wait.task), at: place, to: wait.escalated, for: resource, &state.site, &effects)
            }
        }
        Self.registry.follow(&effects)
        // A raise that is not possible was reported when the wait began.
        effects.perform()
    }

    private func cancel(_ wait: AsyncWait) {
        var effects = LockEffects()
        let continuation = unsafe leave(wait, &effects)
        Self.registry.follow(&effects)
        effects.perform()
        unsafe continuation?.resume(throwing: CancellationError())
    }

    /// Takes a wait out of the line, or prevents it from beginning.
    ///
    /// - Returns: the continuation of the task; `nil` when it has not begun to wait, or has been handed a permit.
    private func leave(
        _ wait: AsyncWait, _ effects: inout LockEffects
    ) -> UnsafeContinuation<Void, any Error>? {
        unsafe state.withLock { state -> UnsafeContinuation<Void, any Error>? in
            wait.isCancelled = true
            guard let place = wait.place else { return nil }
            unsafe AsyncWait.at(state.site.line.token(at: place)).release()
            Self.registry.withdraw(.task(wait.task), at: place, from: resource, &state.site, &effects)
            return unsafe wait.ends()
        }
    }

    // MARK: Giving back

    /// Gives a permit back. It goes to the next waiter in the line (``WaitLine``). Any thread.
    ///
    /// - Parameter task: the task that owns it; `nil` for a permit without an owner.
    func release(ownedBy task: TaskAddress?) {
        var effects = LockEffects()
        let continuation = unsafe state.withLock { state -> UnsafeContinuation<Void, any Error>? in
            if task == nil { state.unowned = max(0, state.unowned - 1) }
            guard state.site.line.count > 0 else {
                if let task { state.site.holders.remove(.task(task)) }
                // A program may add permits without end. The greatest number stands for all of them.
                if state.available < .max { state.available += 1 }
                return nil
            }
            return unsafe handOver(from: task, &state, &effects)
        }
        unsafe continuation?.resume()
        if effects.isEmpty { return }
        Self.registry.follow(&effects)
        effects.perform()
    }

    private func handOver(
        from task: TaskAddress?, _ state: inout State, _ effects: inout LockEffects
    ) -> UnsafeContinuation<Void, any Error>? {
        let token = Self.registry.handOver(
            resource, from: task.map { .task($0) }, &state.site, &effects,
            newHolder: { token in
                unsafe AsyncWait.at(token)._withUnsafeGuaranteedRef {
                    (.task($0.task), $0.isOwned, max($0.own, $0.escalated))
                }
            })
        guard let token else { return nil }
        let wait = unsafe AsyncWait.at(token).takeRetainedValue()
        if !wait.isOwned { state.unowned += 1 }
        wait.isHandedOver.store(true, ordering: .releasing)
        return unsafe wait.ends()
    }
}

/// One task's wait for a permit.
// SAFETY: the variables are touched under the gate's lock only; the thread that takes the continuation resumes it.
@safe
final class AsyncWait: @unchecked Sendable {
    let task: TaskAddress
    let isOwned: Bool
    /// Whether the wait was handed a permit.
    let isHandedOver = Atomic<Bool>(false)
    var isCancelled = false
    /// The class at which the task ran when it began to wait. An activity around the task gives the wait another level,
    /// and leaves the task as it is.
    var own = LevelCode.none
    /// The level to which the task was raised while it waited, or before it was in the line.
    var escalated = LevelCode.none
    /// The wait's place in the line while the task waits.
    var place: Int?
    var continuation: UnsafeContinuation<Void, any Error>?

    init(task: TaskAddress, isOwned: Bool) {
        self.task = task
        self.isOwned = isOwned
    }

    /// Returns the wait that a token stands for.
    fileprivate static func at(_ token: UInt) -> Unmanaged<AsyncWait> {
        // SAFETY: the token is the address of a wait that the line retains.
        unsafe .fromOpaque(UnsafeRawPointer(bitPattern: token).unsafelyUnwrapped)
    }

    /// Ends the wait and returns the task's continuation.
    fileprivate func ends() -> UnsafeContinuation<Void, any Error>? {
        place = nil
        return unsafe continuation.take()
    }
}
