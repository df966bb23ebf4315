import QoSKernel

/// The state of a thread, from ready to ended, with its waiters. A value.
///
/// An event returns the waiters that the caller resumes outside of the lock.
struct ThreadLife<Success: Sendable> {
    typealias Body = @Sendable () throws -> Success
    typealias Continuation = CheckedContinuation<Result<Success, any Error>, Never>

    /// The threads and tasks that wait for the end.
    struct Waiters {
        var threads: [ThreadWait] = []
        var tasks: [Continuation] = []

        /// Resumes all of them; threads look for the result themselves.
        func resume(_ result: Result<Success, any Error>) {
            for thread in threads { thread.parker.unpark() }
            for task in tasks { task.resume(returning: result) }
        }
    }

    private enum Phase {
        case ready(Body)
        case running(Body)
        case ended(Result<Success, any Error>)
    }

    private var phase: Phase
    private var waiters = Waiters()

    init(_ body: @escaping Body) {
        phase = .ready(body)
    }

    /// The result of the body; `nil` before its end.
    var result: Result<Success, any Error>? { if case .ended(let result) = phase { result } else { nil } }

    var isReady: Bool { if case .ready = phase { true } else { false } }

    var isRunning: Bool { if case .running = phase { true } else { false } }

    /// - Returns: the body to run; `nil` if the thread was started before.
    mutating func started() -> Body? {
        guard case .ready(let body) = phase else { return nil }
        phase = .running(body)
        return body
    }

    /// Notes that the system has refused the thread. It may be started again.
    ///
    /// - Returns: the waiters so far, which would not be resumed without a thread.
    mutating func startFailed() -> Waiters {
        guard case .running(let body) = phase else { return Waiters() }
        phase = .ready(body)
        return takeWaiters()
    }

    /// - Returns: the waiters that get the result.
    mutating func ended(_ result: Result<Success, any Error>) -> Waiters {
        phase = .ended(result)
        return takeWaiters()
    }

    /// Keeps a waiter for the end.
    ///
    /// - Returns: whether the thread runs. Otherwise the waiter is not kept.
    mutating func waits(_ add: (inout Waiters) -> Void) -> Bool {
        guard isRunning else { return false }
        add(&waiters)
        return true
    }

    /// Removes the wait of a thread.
    mutating func gaveUp(_ wait: ThreadWait) {
        waiters.threads.removeAll { $0 === wait }
    }

    private mutating func takeWaiters() -> Waiters {
        defer { waiters = Waiters() }
        return waiters
    }
}
