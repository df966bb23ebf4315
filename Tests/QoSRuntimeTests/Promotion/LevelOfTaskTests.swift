import QoSCore
import QoSKernelTestSupport
import QoSRuntimeTestSupport
import Testing

@testable import QoSRuntime

/// A task that was made by code of a high priority, as on the main thread, and given to the executor of a low class.
@Suite("The level of a task", .timeLimit(.minutes(5)))
struct LevelOfTaskTests {
    private static let oneWorker = QoSScheduler.Configuration(
        processors: 2, workers: [.background: 1], appliesKernelEffects: false, detectsBlocking: false)

    /// Keeps the one worker of the background until the gate is opened.
    private func hold(_ scheduler: QoSScheduler) async -> Gate {
        let (begun, release) = (Gate(), Gate())
        Task.detached(executorPreference: scheduler.executor(for: .background), priority: .background) {
            begun.open()
            release.blockThread()
        }
        await begun.passed()
        return release
    }

    @discardableResult
    private func makeTask<Success: Sendable>(
        _ scheduler: QoSScheduler, _ body: @escaping @Sendable () async -> Success
    ) -> Task<Success, Never> {
        Task.detached(executorPreference: scheduler.executor(for: .background), priority: .high, operation: body)
    }

    @Test(
        "B6 a task of high priority on a low executor has the executor's level, and submits with it", .needsKnownLayout)
    func level() async throws {
        try await withScheduler { scheduler in
            let queue = scheduler.makeQueue("queue", .concurrent)
            let (levels, names, ended) = (Collected<QoSLevel?>(), Collected<String>(), Gate())
            makeTask(scheduler) {
                levels.append(QoS.currentLevel)
                queue.async {
                    levels.append(QoS.currentLevel)
                    names.append(CurrentThread.name)
                    ended.open()
                }
            }
            await ended.passed()
            #expect(levels.all == [.background, .background])
            #expect(names.all.allSatisfy { $0.hasPrefix("qos-bg-") })
        }
    }

    @Test(
        "I4 a task of high priority on a low executor is moved when a task of userInitiated awaits it, and not for one of the background",
        .needsKnownLayout)
    func awaited() async throws {
        try await withScheduler(Self.oneWorker) { scheduler in
            let release = await hold(scheduler)
            let (busy, names) = (Gate(), Collected<String>())
            let allowed = Gate()
            let low = makeTask(scheduler) {
                let awaited = makeTask(scheduler) { names.append(CurrentThread.name) }
                makeTask(scheduler) {
                    busy.open()
                    allowed.blockThread()
                }
                await awaited.value
            }
            release.open()
            await busy.passed()
            // It stands behind the first one, so that a look that finds it has seen both.
            let awaited = makeTask(scheduler) { CurrentThread.name }
            let high = Task.detached(executorPreference: scheduler.executor(for: .userInitiated), priority: .high) {
                await awaited.value
            }
            #expect(await high.value.hasPrefix("qos-in-"))
            allowed.open()
            await low.escaped
            #expect(names.all == ["qos-bg-0"])
        }
    }

    @Test(
        "I4 a task of high priority on a low executor is raised while it runs and a task of userInitiated awaits it",
        .needsKnownLayout,
        arguments: [SimulatedSchedulingCalls.Rights.all, .none])
    func awaitedRunning(rights: SimulatedSchedulingCalls.Rights) async throws {
        var configuration = QoSScheduler.Configuration(processors: 2, detectsBlocking: false)
        configuration.schedulingCalls = SimulatedSchedulingCalls(rights: rights)
        let scheduler = try QoSScheduler(configuration: configuration)
        let (begun, isOver) = (Gate(), Gate())
        let running = makeTask(scheduler) {
            begun.open()
            while !isOver.isOpen {}
        }
        await begun.passed()
        let waiter = Task.detached(executorPreference: scheduler.executor(for: .userInitiated), priority: .high) {
            await running.value
        }
        while scheduler.snapshot.runningPromoted == 0 { await Task.yield() }
        isOver.open()
        await waiter.value
        try await scheduler.shutdown()
    }

    @Test(
        "I4 a task of high priority on a low executor is raised by an explicit raise, from job to job",
        .needsKnownLayout)
    func raised() async throws {
        try await withScheduler(Self.oneWorker) { scheduler in
            let release = await hold(scheduler)
            let (names, ended) = (Collected<String>(), Gate())
            let task = makeTask(scheduler) {
                for _ in 0..<3 {
                    names.append(CurrentThread.name)
                    await Task.yield()
                }
                ended.open()
            }
            scheduler.raise(task, to: .userInitiated)
            await ended.passed()
            #expect(names.all.count == 3 && names.all.allSatisfy { $0.hasPrefix("qos-in-") }, "\(names.all)")
            release.open()
            await task.value
        }
    }

    @Test(
        "I2 a scope of the background that holds a mutex is raised by a scope of userInitiated that waits, whatever the tasks' priorities",
        .needsKnownLayout)
    func scopeThatHolds() async throws {
        try await withScheduler(Self.oneWorker) { scheduler in
            let mutex = AsyncMutex(0)
            let (isHeld, goOn, ended) = (Gate(), Gate(), Gate())
            let names = Collected<String>()
            Task.detached(priority: .high) {
                try await scheduler.withQoS(.background) {
                    try await mutex.withLock { _ in
                        isHeld.open()
                        await goOn.passed()
                        names.append(CurrentThread.name)
                    }
                }
                ended.open()
            }
            await isHeld.passed()
            let release = await hold(scheduler)
            let waiter = Task.detached(priority: .high) {
                try await scheduler.withQoS(.userInitiated) { try await mutex.withLock { $0 } }
            }
            while mutex.waiterCount == 0 { await Task.yield() }
            goOn.open()
            _ = try await waiter.value
            #expect(names.all.count == 1 && names.all.allSatisfy { $0.hasPrefix("qos-in-") }, "\(names.all)")
            release.open()
            await ended.passed()
        }
    }

    @Test(
        "O1 a task that is started at a class has its level and priority, with the creator's task-local values or without"
    )
    func started() async throws {
        try await withScheduler { scheduler in
            let priorities = await LocalValue.$number.withValue(7) {
                await [
                    scheduler.startTask(at: .background) { (Task.basePriority, QoS.currentLevel, LocalValue.number) },
                    scheduler.startDetachedTask(at: .background) {
                        (Task.basePriority, QoS.currentLevel, LocalValue.number)
                    },
                ].asyncMap { await $0.escaped }
            }
            #expect(priorities.map(\.0) == [.background, .background])
            #expect(priorities.map(\.1) == [.background, .background])
            #expect(priorities.map(\.2) == [7, 0])
        }
    }

    /// Starts tasks of the background. Returns their levels and that of work which one of them submits.
    private func levelsOfStartedTasks(_ scheduler: QoSScheduler, _ queue: WorkQueue) async -> [QoSLevel?] {
        let (levels, ended) = (Collected<QoSLevel?>(), Gate())
        levels.append(await scheduler.startTask(at: .background) { QoS.currentLevel }.escaped)
        scheduler.startTask(at: .background) {
            defer { ended.open() }
            levels.append(QoS.currentLevel)
            levels.append(try await queue.run { QoS.currentLevel })
        }
        await ended.passed()
        return levels.all
    }

    @Test("S8 B6 a task that is started at a class within withQoS, an activity or a context has its own class's level")
    func startedInScopes() async throws {
        try await withScheduler { scheduler in
            let queue = scheduler.makeQueue("infers", .concurrent)
            let seen = await [
                scheduler.withQoS(.userInitiated) { await levelsOfStartedTasks(scheduler, queue) },
                QoS.performActivity(.userInitiated, reason: "request") {
                    await levelsOfStartedTasks(scheduler, queue)
                },
                ExecutionContext(level: .userInitiated).run { await levelsOfStartedTasks(scheduler, queue) },
            ]
            for levels in seen { #expect(levels == [.background, .background, .background]) }
        }
    }

    @Test("S8 a scope within a task that is started at a class gives its level")
    func scopeInStarted() async throws {
        try await withScheduler { scheduler in
            let level = await scheduler.withQoS(.userInitiated) {
                await scheduler.startTask(at: .background) {
                    QoS.performActivity(.latencyCritical, reason: "inner") { QoS.currentLevel }
                }.escaped
            }
            #expect(level == .userInteractive)
        }
    }
}

private enum LocalValue {
    @TaskLocal static var number = 0
}

extension Array {
    fileprivate func asyncMap<Result>(_ transform: (Element) async -> Result) async -> [Result] {
        var results: [Result] = []
        for element in self { results.append(await transform(element)) }
        return results
    }
}
