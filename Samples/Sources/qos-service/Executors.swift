internal import Dispatch
internal import Foundation
internal import Glibc
internal import QoSCore
internal import QoSRuntime
internal import QoSWorkloads

// This file contains every decision about where work runs, and how signals arrive.

/// The executors that run the process's tasks.
enum ProcessExecutor: String, CaseIterable, Sendable {
    /// The runtime's pools, one for each class.
    case qos
    /// Swift's default executor, for comparison.
    case swift
}

/// Runs `body` as the whole process, from the synchronous `main`, and ends the process with its result.
///
/// The body runs at userInteractive, and the server with `runTurns`. Searches take longer, and run at userInitiated. The
/// first SIGINT or SIGTERM cancels the body, and it may then end in order. A second one ends the process at once with 128
/// and the signal's number.
func runProcess(on executor: ProcessExecutor, _ body: @escaping @Sendable () async -> ExitStatus) -> Never {
    guard executor == .qos else { runProcessOnSwift(body) }
    QoSProcess.run(configuration: QoSProcess.Configuration(qosClass: .userInteractive)) {
        throw QoSProcess.ExitStatus(UInt8(clamping: await body().rawValue))
    }
}

/// Does the same on Swift's default executor.
private func runProcessOnSwift(_ body: @escaping @Sendable () async -> ExitStatus) -> Never {
    let task = Task(priority: QoSClass.userInteractive.taskPriority) { exit(await body().rawValue) }
    let sources = [SIGINT, SIGTERM].map { number in
        signal(number, SIG_IGN)
        let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
        source.setEventHandler {
            if task.isCancelled { exit(128 + number) }
            task.cancel()
        }
        source.resume()
        return source
    }
    withExtendedLifetime(sources) { dispatchMain() }
}

/// Lets Dispatch, which the database library uses, open the descriptors of its own event loop.
///
/// It opens them at its first use, on a thread of its own, and ends the process if it gets none. Afterwards a process
/// without free descriptors goes on.
func openDescriptorsOfDispatch() async {
    let timer = DispatchSource.makeTimerSource(queue: .global())
    // The millisecond makes it need a descriptor for timers as well.
    timer.schedule(deadline: .now() + .milliseconds(1))
    await withCheckedContinuation { opened in
        timer.setEventHandler {
            timer.cancel()
            opened.resume()
        }
        timer.resume()
    }
}

/// Returns the number of the process's processors.
func processorCount() -> Int {
    QoSProcess.scheduler?.snapshot.processors ?? ProcessInfo.processInfo.activeProcessorCount
}

/// Returns the counters of the process's scheduler, for the status; `nil` if the code runs without it, as in tests.
func schedulerSnapshot() -> SchedulerSnapshot? {
    QoSProcess.scheduler?.snapshot
}

/// Returns the threads of the workloads: those of the process's scheduler, or of Swift's default executor.
func workloadScheduler() -> any WorkloadScheduler {
    QoSProcess.scheduler ?? SwiftWorkloadScheduler()
}

/// Returns the watcher of files for workloads; nil on Swift's default executor.
func fileEvents() -> (any FileEventSource)? {
    QoSProcess.scheduler.map(SystemFileEvents.init)
}

/// Runs workloads on Swift's default executor, for comparison and in tests.
struct SwiftWorkloadScheduler: WorkloadScheduler {
    func startWorkload(
        at qosClass: QoSClass,
        name: String,
        _ body: @escaping @Sendable () async -> Void
    ) -> Task<Void, Never> {
        Task.detached(name: name, priority: qosClass.taskPriority) { await body() }
    }

    func raiseWorkload(_ task: Task<Void, Never>, to qosClass: QoSClass) {
        task.escalatePriority(to: qosClass.taskPriority)
    }
}

/// Runs `body`, and all child tasks that it starts, in the pool of userInteractive. So a request's turns do not wait for
/// searches.
///
/// Without the executor they would: the concurrency library starts tasks of a userInteractive task at userInitiated
/// (rule B6).
func runTurns(_ body: @escaping @Sendable () async throws -> Void) async throws {
    guard let scheduler = QoSProcess.scheduler else { return try await body() }
    try await withTaskExecutorPreference(scheduler.executor(for: .userInteractive)) { try await body() }
}

/// Runs `body` in a task of its own in the pool of a class, and waits for it. Cancellation passes through.
///
/// The wait does not raise the task, so background work that the service waits for stays background work.
func runTask<Value: Sendable>(
    at qosClass: QoSClass,
    _ body: @escaping @Sendable () async throws -> Value
) async throws -> Value {
    guard let scheduler = QoSProcess.scheduler else { return try await runOnSwift(at: qosClass.taskPriority, body) }
    return try await scheduler.run(at: qosClass, operation: body)
}

/// The same on Swift's default executor. `task.value` would raise the task, so it is asked only after the end, or to
/// end a cancelled task.
private func runOnSwift<Value: Sendable>(
    at priority: TaskPriority,
    _ body: @escaping @Sendable () async throws -> Value
) async throws -> Value {
    let (waiting, end) = AsyncStream.makeStream(of: Void.self)
    let task = Task(priority: priority) {
        defer { end.finish() }
        return try await body()
    }
    return try await withTaskCancellationHandler {
        for await _ in waiting {}
        return try await task.value
    } onCancel: {
        task.cancel()
    }
}
