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

    /// - Returns: the body to be run; `nil` where the thread has been started before.
    mutating func started() -> Body? {
        guard case .ready(let body) = phase else { return nil }
        phase = .running(body)
        return body
    }

    /// The system has refused the thread: it may be started again.
    ///
    /// - Returns: what has begun to wait meanwhile, and would not be resumed without a thread.
    mutating func startFailed() -> Waiters {
        guard case .running(let body) = phase else { return Waiters() }
        phase = .ready(body)
        return takeWaiters()
    }

    /// - Returns: what is to be told the result.
    mutating func ended(_ result: Result<Success, any Error>) -> Waiters {
        phase = .ended(result)
        return takeWaiters()
    }

    /// Keeps what waits for the end.
    ///
    /// - Returns: whether the thread runs; nothing is kept otherwise.
    mutating func waits(_ add: (inout Waiters) -> Void) -> Bool {
        guard isRunning else { return false }
        add(&waiters)
        return true
    }

    /// A thread waits no longer.
    mutating func gaveUp(_ wait: ThreadWait) {
        waiters.threads.removeAll { $0 === wait }
    }

    private mutating func takeWaiters() -> Waiters {
        defer { waiters = Waiters() }
        return waiters
    }
}
