import QoSCore
import QoSKernel
import Synchronization

/// Runs a closure once. The first caller runs it, and the others wait for it (rule B14).
///
/// The waiting callers raise the item that runs the closure to their level (rule I1).
///
/// Threading: any thread.
public final class Once: Sendable {
    private struct State {
        var isRunning = false
        var runner: WorkEntry?
        var thread: ThreadID?
        var waits: [ThreadWait] = []
    }

    private let isDone = Atomic<Bool>(false)
    private let state = Lock(State())

    /// Makes an object that has not run a closure.
    public init() {}

    /// Whether a closure has run to its end.
    public var hasRun: Bool { isDone.load(ordering: .acquiring) }

    /// Runs the closure if none has run. If one is running, waits for it. Takes a nanosecond if one has run.
    ///
    /// A closure that throws does not count as run: the next caller's closure gets its turn.
    ///
    /// - Throws: the closure's error; ``WorkQueueError/wouldDeadlock(_:)`` when called from the closure itself;
    ///   ``WorkQueueError/deadlock(waits:)`` when the running closure waits, directly or through others, for the
    ///   calling thread.
    public func run(_ body: () throws -> Void) throws {
        while !hasRun {
            if try begin() {
                defer { end() }
                try body()
                isDone.store(true, ordering: .releasing)
            }
        }
    }

    /// - Returns: whether the caller runs the closure; `false` after it has waited for another caller.
    private func begin() throws(WorkQueueError) -> Bool {
        let wait = ThreadWait()
        let thread = ThreadID.current
        let entry = WorkEntry.current
        let found: Found = state.withLock { state in
            guard state.isRunning else {
                // Between the caller's look and this one, another closure may have run to its end.
                if isDone.load(ordering: .relaxed) { return .done }
                state.isRunning = true
                state.runner = entry
                state.thread = thread
                return .free
            }
            if state.thread == thread { return .itself }
            state.waits.append(wait)
            return .busy(state.runner)
        }
        switch found {
        case .free: return true
        case .done: return false
        case .itself: throw .wouldDeadlock("once")
        case .busy(let runner):
            let level = LevelCode(QoS.currentLevel)
            if let runner { runner.queue.waitBegan(for: runner, at: level) }
            defer { if let runner { runner.queue.waitEnded(for: runner, at: level) } }
            let waiter = LockWaiter(
                party: .callingThread, name: nil, level: level.level, lockName: awaitedName)
            do throws(WorkQueueError) {
                try waiter.sleep(wait, awaiting: self, refusal: WorkQueueError.deadlock(waits:))
            } catch {
                state.withLock { state in state.waits.removeAll { $0 === wait } }
                // The closure may have ended just when the wait was refused.
                if !hasRun { throw error }
            }
            return false
        }
    }

    private enum Found {
        case free
        case done
        case itself
        case busy(WorkEntry?)
    }

    private func end() {
        let waits = state.withLock { state in
            defer { state = State() }
            return state.waits
        }
        for wait in waits { wait.parker.unpark() }
    }
}

extension Once: ThreadAwaited {
    var blockers: [UInt32] {
        state.withLock { state in state.isRunning ? state.thread.map { [UInt32(bitPattern: $0.rawValue)] } ?? [] : [] }
    }

    var awaitedName: String { "a closure that runs once" }

    func raised(to level: LevelCode) {
        let runner = state.withLock { $0.runner }
        if let runner { runner.queue.waitBegan(for: runner, at: level) }
    }

    func lowered(from level: LevelCode) {
        let runner = state.withLock { $0.runner }
        if let runner { runner.queue.waitEnded(for: runner, at: level) }
    }
}
