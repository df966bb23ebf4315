import QoSKernel
import Synchronization

/// The work that asks a shutdown to wait for it. It is held from when it is queued or begins until it has ended.
///
/// Threading: any thread; one lock for each piece of work that declares itself.
final class ShutdownHolds: Sendable {
    /// The held work, so that it can be raised.
    enum Held: Sendable {
        /// The work of a task, within it; `nil` for one that cannot be raised.
        case task(TaskAddress?)
        /// An item of a work queue.
        case entry(PoolEntry)

        /// The same work, kept alive for the thread that raises it; `nil` if it cannot be raised.
        var retained: Held? {
            switch self {
            case .task(let address):
                guard let address, ConcurrencyRuntime.retain(address) else { return nil }
                return .task(address)
            case .entry: return self
            }
        }
    }

    private struct State {
        var held: [Int: Held] = [:]
        var next = 0
        var isPromoting = false
        var whenEmpty: (@Sendable () -> Void)?
    }

    private let state = Lock(State())
    private let count = Atomic<Int>(0)

    /// Whether nothing is held. Any thread, without the lock.
    var isEmpty: Bool { count.load(ordering: .sequentiallyConsistent) == 0 }

    /// Begins to hold work.
    ///
    /// - Returns: the number of the hold, and whether to raise the work at once because a shutdown is going on.
    func begin(_ held: Held) -> (hold: Int, promotesAtOnce: Bool) {
        state.withLock { state in
            state.next += 1
            state.held[state.next] = held
            count.store(state.held.count, ordering: .sequentiallyConsistent)
            return (state.next, state.isPromoting)
        }
    }

    /// Ends a hold, because its work has ended. A held task is alive until this call has returned.
    ///
    /// - Returns: whether nothing is held any more.
    func end(_ hold: Int) -> Bool {
        let (removed, isEmpty, body) = state.withLock { state in
            let removed = state.held.removeValue(forKey: hold)
            count.store(state.held.count, ordering: .sequentiallyConsistent)
            return (removed, state.held.isEmpty, state.held.isEmpty ? state.whenEmpty.take() : nil)
        }
        body?()
        return withExtendedLifetime(removed) { isEmpty }
    }

    /// Calls a body once when nothing is held: at once, or on the thread that ends the last hold.
    func whenEmpty(_ body: @escaping @Sendable () -> Void) {
        let isEmpty = state.withLock { state in
            if !state.held.isEmpty { state.whenEmpty = body }
            return state.held.isEmpty
        }
        if isEmpty { body() }
    }

    /// Drops all holds, because the scheduler has ended and waits no more. An item that never ran keeps its queue
    /// alive, and the queue keeps the scheduler.
    func removeAll() {
        let removed = state.withLock { state in
            count.store(0, ordering: .sequentiallyConsistent)
            defer { state.held = [:] }
            return state.held
        }
        withExtendedLifetime(removed) {}
    }

    /// Notes that a shutdown has begun.
    ///
    /// - Returns: the work to raise, kept alive for that.
    func beginPromoting() -> [Held] {
        state.withLock { state in
            state.isPromoting = true
            return state.held.values.compactMap(\.retained)
        }
    }
}
