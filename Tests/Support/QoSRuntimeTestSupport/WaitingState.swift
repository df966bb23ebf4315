/// A state in which a task of a low class can stand in a queue, while other work keeps the worker of that class (rule
/// I4).
package enum WaitingState: String, CaseIterable, Sendable {
    case notBegun, yielded, slept, continued, streamed, groupChild, asyncLet, defaultActor, serialExecutor
}

/// The executor of a test of waiting states: the process-wide executors, a preference, or virtual time.
package struct WaitingStage: Sendable {
    /// The executors that the low and the high task prefer; `nil` for the process's.
    let low: (any TaskExecutor)?
    let high: (any TaskExecutor)?
    let serial: any SerialExecutor

    /// Keeps the low class's only worker.
    let hog: @Sendable () async -> Void

    /// Whether the hog has the worker. On threads, a short sleep may be over before the worker has come to the hog.
    let hogRuns: @Sendable () -> Bool

    /// Returns the place, or the time, at which the calling code runs.
    let report: @Sendable () -> String

    package init(
        low: (any TaskExecutor)?, high: (any TaskExecutor)?, serial: any SerialExecutor,
        hog: @escaping @Sendable () async -> Void, hogRuns: @escaping @Sendable () -> Bool = { true },
        report: @escaping @Sendable () -> String
    ) {
        (self.low, self.high, self.serial) = (low, high, serial)
        (self.hog, self.hogRuns, self.report) = (hog, hogRuns, report)
    }

    /// Keeps the worker from now on, or as soon as it comes to it. Started before a task's child and after it, one of
    /// both goes before the child, whether the queue lets the latest job go first or not.
    func startHog() {
        Task.detached(executorPreference: low, priority: .background) { [hog] in await hog() }
    }

    /// Starts a task of the high class that awaits another.
    package func waiter(for task: Task<String, Never>) -> Task<String, Never> {
        Task.detached(executorPreference: high, priority: .userInitiated) { await task.value }
    }
}

/// A task on its way into a state.
package struct WaitingTask: Sendable {
    package let task: Task<String, Never>

    /// Lets a suspended task be queued again. To be called once the hog runs.
    package let resume: @Sendable () -> Void
}

extension WaitingState {
    /// Starts a task of the low class. Once the hog runs and ``WaitingTask/resume`` was called, it comes into the state
    /// and stays there.
    package func start(on stage: WaitingStage) -> WaitingTask {
        switch self {
        case .notBegun:
            stage.startHog()
            return WaitingTask(task: launch(stage) { stage.report() }) {}
        case .yielded:
            return WaitingTask(
                task: launch(stage) {
                    stage.startHog()
                    await Task.yield()
                    return stage.report()
                }
            ) {}
        case .slept:
            return WaitingTask(
                task: launch(stage) {
                    stage.startHog()
                    repeat { try? await Task.sleep(for: .milliseconds(20)) } while !stage.hogRuns()
                    return stage.report()
                }
            ) {}
        case .continued, .streamed, .defaultActor, .serialExecutor:
            return suspended(on: stage)
        case .groupChild:
            return WaitingTask(
                task: launch(stage) {
                    await withTaskGroup(of: String.self) { group in
                        stage.startHog()
                        group.addTask { stage.report() }
                        stage.startHog()
                        return await group.next() ?? "no child"
                    }
                }
            ) {}
        case .asyncLet:
            return WaitingTask(
                task: launch(stage) {
                    stage.startHog()
                    async let child = stage.report()
                    stage.startHog()
                    return await child
                }
            ) {}
        }
    }

    private func suspended(on stage: WaitingStage) -> WaitingTask {
        let gate = Gate()
        let open: @Sendable () -> Void = { gate.open() }
        switch self {
        case .streamed:
            let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
            return WaitingTask(
                task: launch(stage) {
                    stage.startHog()
                    for await _ in stream { break }
                    return stage.report()
                }
            ) { continuation.yield() }
        case .defaultActor:
            let actor = PlainActor()
            return WaitingTask(task: launch(stage) { await actor.wait(for: gate, on: stage) }, resume: open)
        case .serialExecutor:
            let actor = ActorOnExecutor(stage.serial)
            return WaitingTask(task: launch(stage) { await actor.wait(for: gate, on: stage) }, resume: open)
        default:
            return WaitingTask(
                task: launch(stage) {
                    stage.startHog()
                    await gate.passed()
                    return stage.report()
                }, resume: open)
        }
    }

    private func launch(_ stage: WaitingStage, _ body: @escaping @Sendable () async -> String) -> Task<String, Never> {
        Task.detached(executorPreference: stage.low, priority: .background, operation: body)
    }
}

/// An actor without an executor of its own.
private actor PlainActor {
    func wait(for gate: Gate, on stage: WaitingStage) async -> String {
        stage.startHog()
        await gate.passed()
        return stage.report()
    }
}

private actor ActorOnExecutor {
    private let executor: any SerialExecutor
    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

    init(_ executor: any SerialExecutor) {
        self.executor = executor
    }

    func wait(for gate: Gate, on stage: WaitingStage) async -> String {
        stage.startHog()
        await gate.passed()
        return stage.report()
    }
}
