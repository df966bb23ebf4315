internal import Glibc
internal import QoSCore
internal import QoSRuntime

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
/// The body, and so the server and its request handlers, runs at userInitiated: a person waits for the answer. The first
/// SIGINT or SIGTERM cancels it, and it may then end in order; a second one ends the process at once with 128 and the
/// signal's number.
func runProcess(_ body: @escaping @Sendable () async -> ExitStatus) -> Never {
    // A peer that closes its connection must not end the process.
    signal(SIGPIPE, SIG_IGN)
    QoSProcess.run(configuration: QoSProcess.Configuration(qosClass: .userInitiated)) {
        throw QoSProcess.ExitStatus(UInt8(clamping: await body().rawValue))
    }
}

/// What the process's scheduler does, for the status; `nil` where the code runs without it, as in tests.
func schedulerSnapshot() -> SchedulerSnapshot? {
    QoSProcess.scheduler?.snapshot
}

/// A child task in the pool of a class, so that waiting, cancellation and errors are those of the caller.
private func run<Value: Sendable>(
    at qosClass: QoSClass,
    _ body: @escaping @Sendable () async throws -> Value
) async throws -> Value {
    try await withThrowingTaskGroup(of: Value.self) { group in
        let executor = QoSProcess.scheduler?.executor(for: qosClass)
        group.addTask(executorPreference: executor, priority: qosClass.taskPriority) { try await body() }
        guard let value = try await group.next() else { throw CancellationError() }
        return value
    }
}
