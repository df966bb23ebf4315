import Dispatch
import QoSCore
import QoSEventLoop
import QoSKernel
import QoSKernelTestSupport
import Synchronization
import Testing

@testable import QoSRuntime

@Suite("Promotion of awaited work", .timeLimit(.minutes(2)))
struct PromotionTests {
    /// One processor, so one worker for each class, and no help from the kernel: what runs is decided by the pools.
    private func makeScheduler(calls: (any SchedulingCalls)? = nil) throws -> QoSScheduler {
        var configuration = QoSScheduler.Configuration(
            processors: 1, appliesKernelEffects: calls != nil, detectsBlocking: false)
        configuration.schedulingCalls = calls
        return try QoSScheduler(configuration: configuration)
    }

    @Test("I4 a waiting task that a higher one awaits is moved: it runs although every worker of its class is taken")
    func movesWaiting() async throws {
        let scheduler = try makeScheduler()
        let gate = DispatchSemaphore(value: 0)
        let (started, isStarted) = AsyncStream.makeStream(of: Void.self)
        let blocker = Task(executorPreference: scheduler.executor, priority: .background) {
            isStarted.finish()
            blockThread(gate)
        }
        for await _ in started {}
        let victim = Task(executorPreference: scheduler.executor, priority: .background) { currentThreadName() }
        let waiter = Task(executorPreference: scheduler.executor, priority: .userInitiated) { await victim.value }
        let name = await waiter.value
        #expect(name.hasPrefix("qos-in-"))
        #expect(scheduler.snapshot.tasksMoved >= 1)
        gate.signal()
        await blocker.value
        try await scheduler.shutdown()
    }

    @Test("I4 the worker of the task that awaits moves what is awaited, while the loop is busy with something else")
    func movesWithoutLoop() async throws {
        let scheduler = try makeScheduler()
        // Both workers have their threads, which the loop has to start.
        await Task(executorPreference: scheduler.executor, priority: .userInitiated) {}.value
        let gate = DispatchSemaphore(value: 0)
        let (started, isStarted) = AsyncStream.makeStream(of: Void.self)
        let blocker = Task(executorPreference: scheduler.executor, priority: .background) {
            isStarted.finish()
            blockThread(gate)
        }
        for await _ in started {}
        let loopGate = DispatchSemaphore(value: 0)
        let (stopped, isStopped) = AsyncStream.makeStream(of: Void.self)
        try scheduler.core.loop.submit {
            isStopped.finish()
            blockThread(loopGate)
        }
        for await _ in stopped {}
        let victim = Task(executorPreference: scheduler.executor, priority: .background) { currentThreadName() }
        let waiter = Task(executorPreference: scheduler.executor, priority: .userInitiated) { await victim.value }
        #expect(await waiter.value.hasPrefix("qos-in-"))
        loopGate.signal()
        gate.signal()
        await blocker.value
        try await scheduler.shutdown()
    }

    @Test(
        "I4 the worker of the task that awaits raises what is awaited and runs, while the loop is busy with something else",
        arguments: [SimulatedSchedulingCalls.Rights.all, .none])
    func raisesRunningWithoutLoop(rights: SimulatedSchedulingCalls.Rights) async throws {
        let scheduler = try makeScheduler(calls: SimulatedSchedulingCalls(rights: rights))
        await Task(executorPreference: scheduler.executor, priority: .userInitiated) {}.value
        let isOver = Flag()
        let (started, isStarted) = AsyncStream.makeStream(of: Void.self)
        let running = Task(executorPreference: scheduler.executor, priority: .background) {
            isStarted.finish()
            while !isOver.isSet {}
        }
        for await _ in started {}
        let loopGate = DispatchSemaphore(value: 0)
        let (stopped, isStopped) = AsyncStream.makeStream(of: Void.self)
        try scheduler.core.loop.submit {
            isStopped.finish()
            blockThread(loopGate)
        }
        for await _ in stopped {}
        // Something that waits, so that there is a reason to look.
        let queued = Task(executorPreference: scheduler.executor, priority: .background) {}
        let waiter = Task(executorPreference: scheduler.executor, priority: .userInitiated) { await running.value }
        while scheduler.snapshot.runningPromoted == 0 { await Task.yield() }
        isOver.set()
        await waiter.value
        loopGate.signal()
        await queued.value
        try await scheduler.shutdown()
    }

    @Test("I4 of many waiting tasks the awaited one is found, wherever it stands")
    func findsAmongMany() async throws {
        let scheduler = try makeScheduler()
        let gate = DispatchSemaphore(value: 0)
        let blocker = Task(executorPreference: scheduler.executor, priority: .utility) { blockThread(gate) }
        let tasks = (0..<5000).map { number in
            Task(executorPreference: scheduler.executor, priority: .utility) { number }
        }
        for position in [4999, 0, 2500] {
            let awaited = tasks[position]
            let waiter = Task(executorPreference: scheduler.executor, priority: .userInitiated) { await awaited.value }
            #expect(await waiter.value == position)
        }
        gate.signal()
        await blocker.value
        for (number, task) in tasks.enumerated() { #expect(await task.value == number) }
        try await scheduler.shutdown()
    }

    @Test(
        "I4 a running task that a higher one awaits is raised until its job ends",
        arguments: [SimulatedSchedulingCalls.Rights.all, .none])
    func raisesRunning(rights: SimulatedSchedulingCalls.Rights) async throws {
        let scheduler = try makeScheduler(calls: SimulatedSchedulingCalls(rights: rights))
        let isOver = Flag()
        let (started, isStarted) = AsyncStream.makeStream(of: Void.self)
        let running = Task(executorPreference: scheduler.executor, priority: .background) {
            isStarted.finish()
            while !isOver.isSet {}
        }
        for await _ in started {}
        // Competitors, so that there is a reason to look.
        let competitors = (0..<4).map { _ in
            Task(executorPreference: scheduler.executor, priority: .medium) {
                while !isOver.isSet { await Task.yield() }
            }
        }
        let waiter = Task(executorPreference: scheduler.executor, priority: .userInitiated) { await running.value }
        while scheduler.snapshot.runningPromoted == 0 { await Task.yield() }
        isOver.set()
        await waiter.value
        // A fence that stayed up would keep these from ending.
        for competitor in competitors { await competitor.value }
        try await scheduler.shutdown()
    }

    @Test("C7 a lower class never starves: its work runs while the highest class takes every processor")
    func noStarvation() async throws {
        let scheduler = try makeScheduler()
        let isOver = Flag()
        let greedy = (0..<4).map { _ in
            Task(executorPreference: scheduler.executor(for: .userInteractive)) {
                while !isOver.isSet { await Task.yield() }
            }
        }
        for qosClass in QoSClass.allCases where qosClass != .userInteractive {
            #expect(await Task(executorPreference: scheduler.executor(for: qosClass)) { true }.value)
        }
        isOver.set()
        for task in greedy { await task.value }
        try await scheduler.shutdown()
    }
}

/// Blocks the calling thread until the semaphore is signalled: what a worker must not do, for the sake of a test.
private func blockThread(_ semaphore: DispatchSemaphore) {
    semaphore.wait()
}

private func currentThreadName() -> String {
    (try? LinuxSchedulingCalls().name(of: .current)) ?? "unknown"
}

/// Something that happens once.
private final class Flag: Sendable {
    private let value = Atomic(false)

    var isSet: Bool { value.load(ordering: .relaxed) }

    func set() { value.store(true, ordering: .relaxed) }
}
