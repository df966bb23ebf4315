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
        var lastWaiter = 0
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
        let waiters = state.withLock { state -> [CheckedContinuation<Void, Never>]? in
            switch (state.request, new) {
            case (.cancel, _), (.stop, .none), (.stop, .wait), (.stop, .stop): return nil
            case (let old, _) where old == new: return nil
            default: break
            }
            state.request = new
            isRequested.store(new != .none, ordering: .relaxed)
            defer { state.waiters = [:] }
            return Array(state.waiters.values)
        }
        guard let waiters else { return false }
        for waiter in waiters { waiter.resume() }
        return true
    }

    /// Suspends until the request is no longer this one, or the task is cancelled.
    func waitWhile(_ old: Request) async {
        let number = state.withLock { state in
            state.lastWaiter += 1
            return state.lastWaiter
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
}
