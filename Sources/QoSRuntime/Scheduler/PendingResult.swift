import QoSKernel

/// The result of a task's operation, for one waiter that does not promote the task.
///
/// The task does not know its waiter: a continuation names no task to raise.
///
/// Threading: any thread resolves it, once; one task awaits it, once.
final class PendingResult<Success: Sendable, Failure: Error>: Sendable {
    private typealias Waiter = CheckedContinuation<Result<Success, Failure>, Never>

    private enum State: Sendable {
        case pending
        case awaited(Waiter)
        case resolved(Result<Success, Failure>)
    }

    private let state = Lock(State.pending)

    /// Sets the result, and resumes the waiter.
    func resolve(with result: Result<Success, Failure>) {
        let waiter = state.withLock { state -> Waiter? in
            defer { state = .resolved(result) }
            guard case .awaited(let waiter) = state else { return nil }
            return waiter
        }
        waiter?.resume(returning: result)
    }

    /// Returns the result, after any wait for it.
    nonisolated(nonsending) func get() async -> Result<Success, Failure> {
        await withCheckedContinuation { waiter in
            let result = state.withLock { state -> Result<Success, Failure>? in
                guard case .resolved(let result) = state else {
                    state = .awaited(waiter)
                    return nil
                }
                return result
            }
            if let result { waiter.resume(returning: result) }
        }
    }
}
