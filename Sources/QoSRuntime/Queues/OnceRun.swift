import CQoSShims
import QoSCore
import QoSKernel

/// A run of a ``Once``: the thread that runs the closure, and the threads that wait for its end.
///
/// The waiters raise the work item that runs the closure. Outside of an item they raise the thread, like the holder of
/// a ``QoSMutex`` (rules I1, I2): a task does not leave its thread within the closure.
///
/// Threading: any thread. Lock order: the run's state, then the registry's shards.
final class OnceRun: Sendable {
    private struct State {
        var isOver = false
        var waits: [ThreadWait] = []
        /// The levels of the waiters that raise the thread.
        var levels: [LevelCode] = []
        var highest = LevelCode.none
        /// Whether the thread has perhaps been raised.
        var hasRaised = false
    }

    /// The thread that runs the closure.
    let thread = cqos_own_id()

    /// The item that runs the closure.
    private let item = WorkEntry.current
    private let state = Lock(State())

    /// Makes a run on the calling thread.
    init() {}

    /// Ends the run. On its thread.
    func end() {
        var effects = LockEffects()
        let (waits, hasRaised) = state.withLock { state in
            if state.highest != .none {
                LockRegistry.shared.demandNothing(of: .thread(thread), for: resource, &effects)
            }
            let (waits, hasRaised) = (state.waits, state.hasRaised)
            state = State(isOver: true)
            return (waits, hasRaised)
        }
        for wait in waits { wait.parker.unpark() }
        guard hasRaised else { return }
        LockRegistry.shared.follow(&effects)
        effects.perform()
        LockRegistry.shared.settleCallingThread(thread)
    }

    /// Blocks the calling thread until the run is over.
    ///
    /// - Throws: ``WorkQueueError/deadlock(waits:)`` when the run waits for the calling thread.
    func waitForEnd() throws(WorkQueueError) {
        let wait = ThreadWait()
        let isOver = state.withLock { state in
            if !state.isOver { state.waits.append(wait) }
            return state.isOver
        }
        if isOver { return }
        let waiter = LockWaiter(
            party: .callingThread, name: nil, level: QoS.waitingLevel, lockName: awaitedName)
        let level = LevelCode(waiter.level)
        waiter.perform(raise(to: level), holder: .thread(thread))
        defer { lowered(from: level) }
        if Worker.current != nil {
            waiter.report(
                .blockedPoolThread, holder: .thread(thread),
                "a thread of a pool sleeps until a closure has run: run it before the tasks that need it begin")
        }
        do throws(WorkQueueError) {
            try waiter.sleep(wait, awaiting: self, refusal: WorkQueueError.deadlock(waits:))
        } catch {
            let isOver = state.withLock { state in
                state.waits.removeAll { $0 === wait }
                return state.isOver
            }
            // The run may have ended just when the wait was refused.
            if !isOver { throw error }
        }
    }

    /// The run's name in the record of its thread.
    private var resource: LockResource {
        .mutex(UInt(bitPattern: unsafe Unmanaged.passUnretained(self).toOpaque()))
    }

    /// Adds a level to those of the waiters.
    ///
    /// - Returns: the effects to perform.
    private func raise(to level: LevelCode) -> LockEffects {
        var effects = LockEffects()
        guard level != .none else { return effects }
        if let item {
            item.queue.waitBegan(for: item, at: level)
            return effects
        }
        state.withLock { state in
            guard !state.isOver else { return }
            state.hasRaised = true
            state.levels.append(level)
            guard level > state.highest else { return }
            state.highest = level
            LockRegistry.shared.demand(level, of: .thread(thread), for: resource, &effects)
        }
        LockRegistry.shared.follow(&effects)
        return effects
    }

    /// Tells the registry the highest level after another one was removed.
    private func demandRemaining(_ state: inout State, _ effects: inout LockEffects) {
        let highest = state.levels.max() ?? .none
        guard highest != state.highest else { return }
        state.highest = highest
        if highest == .none {
            LockRegistry.shared.demandNothing(of: .thread(thread), for: resource, &effects)
        } else {
            LockRegistry.shared.demand(highest, of: .thread(thread), for: resource, &effects)
        }
    }
}

extension OnceRun: ThreadWaitTarget {
    var blockers: [UInt32] { state.withLock(\.isOver) ? [] : [thread] }

    var awaitedName: String { "a closure that runs once" }

    func raised(to level: LevelCode) {
        // A raise that is not possible was reported when the wait began.
        raise(to: level).perform()
    }

    func lowered(from level: LevelCode) {
        guard level != .none else { return }
        if let item {
            item.queue.waitEnded(for: item, at: level)
            return
        }
        var effects = LockEffects()
        state.withLock { state in
            guard let place = state.levels.lastIndex(of: level) else { return }
            state.levels.remove(at: place)
            demandRemaining(&state, &effects)
        }
        LockRegistry.shared.follow(&effects)
        effects.perform()
    }
}
