internal import Dispatch
internal import Glibc

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

/// A child task, so that waiting, cancellation and errors are those of the caller.
private func run<Value: Sendable>(
    at priority: TaskPriority,
    _ body: @escaping @Sendable () async throws -> Value
) async throws -> Value {
    try await withThrowingTaskGroup(of: Value.self) { group in
        group.addTask(priority: priority) { try await body() }
        guard let value = try await group.next() else { throw CancellationError() }
        return value
    }
}
