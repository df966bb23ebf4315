import QoSCore
import QoSEventLoop
import QoSKernel
import QoSKernelTestSupport
import QoSRuntimeTestSupport
import Testing

@testable import QoSRuntime

@Suite("Promotion of awaited work", .timeLimit(.minutes(5)))
struct PromotionTests {
    /// One processor, so one worker for each class, and no help from the kernel: what runs is decided by the pools.
    private func makeScheduler(calls: (any SchedulingCalls)? = nil) throws -> QoSScheduler {
        var configuration = QoSScheduler.Configuration(
            processors: 1, appliesKernelEffects: calls != nil, detectsBlocking: false)
        configuration.schedulingCalls = calls
        return try QoSScheduler(configuration: configuration)
    }

    /// Keeps the one worker of a class busy until the gate is opened.
    private func hold(
        _ priority: TaskPriority, _ scheduler: QoSScheduler
    ) async -> (task: Task<Void, Never>, gate: Gate) {
        let (begun, gate) = (Gate(), Gate())
        let task = Task(executorPreference: scheduler.executor, priority: priority) {
            begun.open()
            gate.blockThread()
        }
        await begun.passed()
        return (task, gate)
    }

    /// Keeps the loop busy until the gate is opened. The highest worker has its thread by then, which the loop has to
    /// start.
    private func holdLoop(_ scheduler: QoSScheduler) async throws -> Gate {
        await Task(executorPreference: scheduler.executor, priority: .userInitiated) {}.value
        let (stopped, gate) = (Gate(), Gate())
        try scheduler.core.loop.submit {
            stopped.open()
            gate.blockThread()
        }
        await stopped.passed()
        return gate
    }

    @Test("I4 a waiting task that a higher one awaits is moved: it runs although every worker of its class is taken")
    func movesWaiting() async throws {
        let scheduler = try makeScheduler()
        let blocker = await hold(.background, scheduler)
        let victim = Task(executorPreference: scheduler.executor, priority: .background) { currentThreadName() }
        let waiter = Task(executorPreference: scheduler.executor, priority: .userInitiated) { await victim.value }
        let name = await waiter.value
        #expect(name.hasPrefix("qos-in-"))
        #expect(scheduler.snapshot.tasksMoved >= 1)
        blocker.gate.open()
        await blocker.task.value
        try await scheduler.shutdown()
    }

    @Test("I4 the worker of the task that awaits moves what is awaited, while the loop is busy with something else")
    func movesWithoutLoop() async throws {
        let scheduler = try makeScheduler()
        let blocker = await hold(.background, scheduler)
        let loopGate = try await holdLoop(scheduler)
        let victim = Task(executorPreference: scheduler.executor, priority: .background) { currentThreadName() }
        let waiter = Task(executorPreference: scheduler.executor, priority: .userInitiated) { await victim.value }
        #expect(await waiter.value.hasPrefix("qos-in-"))
        loopGate.open()
        blocker.gate.open()
        await blocker.task.value
        try await scheduler.shutdown()
    }

    @Test(
        "I4 the worker of the task that awaits raises what is awaited and runs, while the loop is busy with something else",
        .needsKnownLayout,
        arguments: [SimulatedSchedulingCalls.Rights.all, .none])
    func raisesRunningWithoutLoop(rights: SimulatedSchedulingCalls.Rights) async throws {
        let scheduler = try makeScheduler(calls: SimulatedSchedulingCalls(rights: rights))
        let (begun, isOver) = (Gate(), Gate())
        let running = Task(executorPreference: scheduler.executor, priority: .background) {
            begun.open()
            while !isOver.isOpen {}
        }
        await begun.passed()
        let loopGate = try await holdLoop(scheduler)
        // Something that waits, so that there is a reason to look.
        let queued = Task(executorPreference: scheduler.executor, priority: .background) {}
        let waiter = Task(executorPreference: scheduler.executor, priority: .userInitiated) { await running.value }
        while scheduler.snapshot.runningPromoted == 0 { await Task.yield() }
        isOver.open()
        await waiter.value
        loopGate.open()
        await queued.value
        try await scheduler.shutdown()
    }

    @Test("I4 of many waiting tasks the awaited one is found, wherever it stands")
    func findsAmongMany() async throws {
        let scheduler = try makeScheduler()
        let blocker = await hold(.utility, scheduler)
        let tasks = (0..<5000).map { number in
            Task(executorPreference: scheduler.executor, priority: .utility) { number }
        }
        for position in [4999, 0, 2500] {
            let awaited = tasks[position]
            let waiter = Task(executorPreference: scheduler.executor, priority: .userInitiated) { await awaited.value }
            #expect(await waiter.value == position)
        }
        blocker.gate.open()
        await blocker.task.value
        for (number, task) in tasks.enumerated() { #expect(await task.value == number) }
        try await scheduler.shutdown()
    }

    @Test(
        "I4 a running task that a higher one awaits is raised until its job ends", .needsKnownLayout,
        arguments: [SimulatedSchedulingCalls.Rights.all, .none])
    func raisesRunning(rights: SimulatedSchedulingCalls.Rights) async throws {
        let scheduler = try makeScheduler(calls: SimulatedSchedulingCalls(rights: rights))
        let (begun, isOver) = (Gate(), Gate())
        let running = Task(executorPreference: scheduler.executor, priority: .background) {
            begun.open()
            while !isOver.isOpen {}
        }
        await begun.passed()
        // Competitors, so that there is a reason to look.
        let competitors = (0..<4).map { _ in
            Task(executorPreference: scheduler.executor, priority: .medium) {
                while !isOver.isOpen { await Task.yield() }
            }
        }
        let waiter = Task(executorPreference: scheduler.executor, priority: .userInitiated) { await running.value }
        while scheduler.snapshot.runningPromoted == 0 { await Task.yield() }
        isOver.open()
        await waiter.value
        // A fence that stayed up would keep these from ending.
        for competitor in competitors { await competitor.value }
        try await scheduler.shutdown()
    }

    @Test(
        "I4 a running task is raised although nothing waits in any queue: other processes may keep it off the processors",
        .needsKnownLayout, arguments: [TaskPriority.userInitiated, .medium, .low])
    func raisesRunningWithoutBacklog(waiterPriority: TaskPriority) async throws {
        let calls = SimulatedSchedulingCalls(rights: .all)
        var configuration = QoSScheduler.Configuration(processors: 2, detectsBlocking: false)
        configuration.schedulingCalls = calls
        let scheduler = try QoSScheduler(configuration: configuration)
        let (begun, isOver) = (Gate(), Gate())
        let running = Task(executorPreference: scheduler.executor, priority: .background) {
            begun.open()
            while !isOver.isOpen {}
        }
        await begun.passed()
        await Task(executorPreference: scheduler.executor, priority: waiterPriority) {}.value
        let waiter = Task(executorPreference: scheduler.executor, priority: waiterPriority) { await running.value }
        while scheduler.snapshot.runningPromoted == 0 { await Task.yield() }
        isOver.open()
        await waiter.value
        try await scheduler.shutdown()
    }

    @Test(
        "I4 C6 raised work has the I/O priority of the higher class, and its worker then its own again",
        .needsKnownLayout, arguments: [SimulatedSchedulingCalls.Rights.all, .none])
    func raisesIOPriority(rights: SimulatedSchedulingCalls.Rights) async throws {
        let calls = SimulatedSchedulingCalls(rights: rights)
        var configuration = QoSScheduler.Configuration(processors: 2, detectsBlocking: false)
        configuration.schedulingCalls = calls
        let scheduler = try QoSScheduler(configuration: configuration)
        let begun = Gate()
        let running = Task(executorPreference: scheduler.executor, priority: .background) {
            begun.open()
            while (try? calls.ioPriority(of: .current)) != .bestEffort(level: 2) {}
            return ThreadID.current
        }
        await begun.passed()
        let waiter = Task(executorPreference: scheduler.executor, priority: .userInitiated) { await running.value }
        let thread = await waiter.value
        let later = await scheduler.run(at: .background, promotes: false) {
            (ThreadID.current, try? calls.ioPriority(of: .current))
        }
        #expect(later.0 == thread && later.1 == .idle)
        try await scheduler.shutdown()
    }

    @Test("C7 a lower class never starves: its work runs while the highest class takes every processor")
    func noStarvation() async throws {
        let scheduler = try makeScheduler()
        let isOver = Gate()
        let greedy = (0..<4).map { _ in
            Task(executorPreference: scheduler.executor(for: .userInteractive)) {
                while !isOver.isOpen { await Task.yield() }
            }
        }
        for qosClass in QoSClass.allCases where qosClass != .userInteractive {
            #expect(await Task(executorPreference: scheduler.executor(for: qosClass)) { true }.value)
        }
        isOver.open()
        for task in greedy { await task.value }
        try await scheduler.shutdown()
    }
}

private func currentThreadName() -> String {
    (try? LinuxSchedulingCalls().name(of: .current)) ?? "unknown"
}
