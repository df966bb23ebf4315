internal import QoSKernel
internal import Synchronization

/// The requests of a host to a running attempt.
///
/// Threading: any thread.
final class AttemptSignals: Sendable {
    /// A request, from the mildest to the strongest.
    enum Request: Sendable, Hashable {
        /// Go on.
        case none
        /// A condition does not hold: wait for it at the next breath.
        case wait(String)
        /// Stop and go on later.
        case stop(String)
        /// End for good, for this reason.
        case cancel(String)
    }

    private struct State {
        var request = Request.none
        var waiters: [Int: CheckedContinuation<Void, Never>] = [:]
        var handlers: [Int: @Sendable () -> Void] = [:]
        /// The last number of a waiter or a handler.
        var lastNumber = 0
    }

    private let isRequested = Atomic(false)
    private let state = Lock(State())

    /// Whether there is a request. One relaxed load.
    @inline(__always)
    var hasRequest: Bool { isRequested.load(ordering: .relaxed) }

    var request: Request { state.withLock { $0.request } }

    /// Changes the request. A cancellation stays, and a stop gives way to nothing else.
    ///
    /// - Returns: whether it changed.
    @discardableResult
    func set(_ new: Request) -> Bool {
        typealias Told = (waiters: [CheckedContinuation<Void, Never>], handlers: [@Sendable () -> Void])
        let told = state.withLock { state -> Told? in
            switch (state.request, new) {
            case (.cancel, _), (.stop, .none), (.stop, .wait), (.stop, .stop): return nil
            case (let old, _) where old == new: return nil
            default: break
            }
            state.request = new
            isRequested.store(new != .none, ordering: .relaxed)
            defer { state.waiters = [:] }
            return (Array(state.waiters.values), new == .none ? [] : Array(state.handlers.values))
        }
        guard let told else { return false }
        for handler in told.handlers { handler() }
        for waiter in told.waiters { waiter.resume() }
        return true
    }

    /// Suspends until the request is no longer this one, or the task is cancelled.
    func waitWhile(_ old: Request) async {
        let number = state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let waits = state.withLock { state in
                    guard state.request == old, !Task.isCancelled else { return false }
                    state.waiters[number] = continuation
                    return true
                }
                if !waits { continuation.resume() }
            }
        } onCancel: {
            let waiter = state.withLock { $0.waiters.removeValue(forKey: number) }
            waiter?.resume()
        }
    }

    /// Calls a handler at each request from now on, and at once if there is one.
    ///
    /// - Returns: the number with which to remove it.
    func add(_ handler: @escaping @Sendable () -> Void) -> Int {
        let (number, isRequested) = state.withLock { state in
            state.lastNumber += 1
            state.handlers[state.lastNumber] = handler
            return (state.lastNumber, state.request != .none)
        }
        if isRequested { handler() }
        return number
    }

    /// Removes a handler. A call of it that has begun on another thread goes on.
    func remove(_ number: Int) {
        _ = state.withLock { $0.handlers.removeValue(forKey: number) }
    }
}
