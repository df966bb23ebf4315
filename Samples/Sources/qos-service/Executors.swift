internal import Dispatch
internal import Glibc
internal import Synchronization

// Everything that decides where work runs, and how signals arrive, is in this file.

/// Runs `body` at userInitiated and waits for it; cancellation goes through.
func runAtUserInitiated<Value: Sendable>(
    _ body: @escaping @Sendable () async throws -> Value
) async throws -> Value {
    try await run(at: .userInitiated, body)
}

/// Runs `body` at background and waits for it; cancellation goes through.
func runAtBackground<Value: Sendable>(
    _ body: @escaping @Sendable () async throws -> Value
) async throws -> Value {
    try await run(at: .background, body)
}

/// Runs `body` as the whole of the process, from the synchronous `main`, and ends the process with its result.
///
/// The first SIGINT or SIGTERM cancels the body, which may then end in order; a second one ends the process at once
/// with 128 and the signal's number.
func runProcess(_ body: @escaping @Sendable () async -> ExitStatus) -> Never {
    // A peer that closes its connection must not end the process.
    signal(SIGPIPE, SIG_IGN)
    let task = Task(priority: .userInitiated) { exit((await body()).rawValue) }
    let sources = [SIGINT, SIGTERM].map { number in
        signal(number, SIG_IGN)
        let source = DispatchSource.makeSignalSource(signal: number, queue: .global(qos: .userInitiated))
        source.setEventHandler {
            if task.isCancelled { _exit(128 + number) }
            task.cancel()
        }
        source.resume()
        return source
    }
    withExtendedLifetime(sources) { dispatchMain() }
}

/// A task of its own, whose end is waited for through a continuation.
///
/// Not a child task, and not `task.value`: a task of high priority that waits for another one in these ways raises it
/// to its own priority, so background work that the service waits for would no longer be background work.
private func run<Value: Sendable>(
    at priority: TaskPriority,
    _ body: @escaping @Sendable () async throws -> Value
) async throws -> Value {
    let cancellation = Cancellation()
    return try await withTaskCancellationHandler {
        try await withCheckedThrowingContinuation { continuation in
            let task = Task(priority: priority) {
                do {
                    continuation.resume(returning: try await body())
                } catch {
                    continuation.resume(throwing: error)
                }
            }
            cancellation.aim(at: task)
        }
    } onCancel: {
        cancellation.cancel()
    }
}

/// Passes a cancellation on to a task that is made later or was made before.
private final class Cancellation: Sendable {
    private enum State {
        case idle
        case aimed(Task<Void, Never>)
        case cancelled
    }

    private let state = Mutex(State.idle)

    func aim(at task: Task<Void, Never>) {
        let isCancelled = state.withLock { state in
            if case .cancelled = state { return true }
            state = .aimed(task)
            return false
        }
        if isCancelled { task.cancel() }
    }

    func cancel() {
        let task = state.withLock { state -> Task<Void, Never>? in
            defer { state = .cancelled }
            guard case .aimed(let task) = state else { return nil }
            return task
        }
        task?.cancel()
    }
}
