import QoSKernel
import Synchronization

/// The work that a shutdown waits for because it said so: from when it is queued or begins to when it has ended.
///
/// Threading: any thread; a lock for each piece of work that declares itself.
final class ShutdownHolds: Sendable {
    /// What is held, so that it can be raised.
    enum Held: Sendable {
        /// The work of a task, within it; `nil` for one that cannot be raised.
        case task(TaskAddress?)
        /// An item of a work queue.
        case entry(PoolEntry)

        /// The same, kept alive for who raises it; `nil` for what cannot be.
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

    /// Work begins to be held.
    ///
    /// - Returns: its number, and whether it is to be raised at once, because a shutdown is going on.
    func begin(_ held: Held) -> (hold: Int, promotesAtOnce: Bool) {
        state.withLock { state in
            state.next += 1
            state.held[state.next] = held
            count.store(state.held.count, ordering: .sequentiallyConsistent)
            return (state.next, state.isPromoting)
        }
    }

    /// Work has ended. Until this has returned, a task that is held is alive.
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

    /// Calls a body once, when nothing is held any more: at once if that is so now, else by the one that ends last.
    func whenEmpty(_ body: @escaping @Sendable () -> Void) {
        let isEmpty = state.withLock { state in
            if !state.held.isEmpty { state.whenEmpty = body }
            return state.held.isEmpty
        }
        if isEmpty { body() }
    }

    /// The scheduler has ended, and waits for nothing any more: an item that never ran keeps its queue, and that the scheduler.
    func removeAll() {
        let removed = state.withLock { state in
            count.store(0, ordering: .sequentiallyConsistent)
            defer { state.held = [:] }
            return state.held
        }
        withExtendedLifetime(removed) {}
    }

    /// A shutdown has begun.
    ///
    /// - Returns: what is to be raised, kept alive for that.
    func beginPromoting() -> [Held] {
        state.withLock { state in
            state.isPromoting = true
            return state.held.values.compactMap(\.retained)
        }
    }
}
