import Glibc
import QoSCore
import QoSKernel
import QoSKernelTestSupport
import QoSRuntimeTestSupport
import QoSTesting
import Synchronization
import Testing

@testable import QoSRuntime

@Suite("Scheduling calls that fail", .timeLimit(.minutes(3)))
struct SchedulingCallFaultTests {
    private static let effects: [KernelCall] = [
        .setScheduling, .getScheduling, .setNice, .getNice, .setIOPriority, .getIOPriority, .setOwnTimerSlack,
        .getOwnTimerSlack, .setTimerSlackOfOther, .getTimerSlackOfOther, .setAffinity, .getAffinity, .setName, .getName,
    ]
    private static let codes = [EPERM, EINVAL, ESRCH]

    private func configuration(_ calls: some SchedulingCalls) -> QoSScheduler.Configuration {
        var configuration = QoSScheduler.Configuration(processors: 2, detectsBlocking: false)
        configuration.schedulingCalls = calls
        return configuration
    }

    /// Runs tasks of all classes: some are awaited by higher ones while they run or wait, or come back by a timer.
    private func load(_ scheduler: QoSScheduler, tasks: Int, seed: UInt64) async -> Int {
        var random = SeededGenerator(seed: seed)
        return await withTaskGroup { group in
            for _ in 0..<tasks {
                let own = QoSClass.allCases[Int.random(in: 0..<5, using: &random)]
                let higher = QoSClass.allCases[Int.random(in: 0..<5, using: &random)]
                let kind = Int.random(in: 0..<4, using: &random)
                group.addTask(executorPreference: scheduler.executor, priority: higher.taskPriority) {
                    await Task(executorPreference: scheduler.executor, priority: own.taskPriority) {
                        if kind == 0 { await Task.yield() }
                        if kind == 1 { try? await Task.sleep(for: .microseconds(200)) }
                        if kind == 2 { await scheduler.withQoS(higher) { await Task.yield() } }
                        return 1
                    }.value
                }
            }
            return await group.reduce(0, +)
        }
    }

    @Test(
        "EPERM, EINVAL or ESRCH at any moment: all work is done, every thread ends", .tags(.stress),
        arguments: 1...6 as ClosedRange<UInt64>)
    func anyMoment(_ seed: UInt64) async throws {
        let rights: SimulatedSchedulingCalls.Rights = seed.isMultiple(of: 2) ? .all : .none
        let calls = FaultInjectingSchedulingCalls(over: SimulatedSchedulingCalls(rights: rights))
        let isOver = Gate()
        let chaos = try RunningThread(name: "chaos") {
            var random = SeededGenerator(seed: seed)
            while !isOver.isOpen {
                let call = Self.effects[Int.random(in: 0..<Self.effects.count, using: &random)]
                let code = Self.codes[Int.random(in: 0..<3, using: &random)]
                if Bool.random(using: &random) {
                    calls.deny(call, with: code, times: Int.random(in: 1...20, using: &random))
                } else {
                    calls.allow(CollectionOfOne(call))
                }
                sched_yield()
            }
        }
        try await withScheduler(configuration(calls)) { scheduler in
            let ended = await load(scheduler, tasks: 3_000, seed: seed)
            #expect(ended == 3_000, "seed \(seed)")
            #expect(scheduler.snapshot.effectMode != nil, "seed \(seed)")
        }
        isOver.open()
        try chaos.join()
    }

    @Test("when all of them fail, the mode says denied and the pools work as pools", arguments: codes)
    func allDenied(_ code: Int32) async throws {
        let calls = FaultInjectingSchedulingCalls()
        calls.deny(Self.effects, with: code)
        try await withScheduler(configuration(calls)) { scheduler in
            #expect(scheduler.snapshot.effectMode == "denied")
            let ended = await load(scheduler, tasks: 1_000, seed: 1)
            #expect(ended == 1_000)
            #expect(scheduler.workerEffects.allSatisfy { !$0.applied.errors.isEmpty })
        }
    }

    @Test("a right that is lost after the start leaves promotion to fences", arguments: codes)
    func lostRight(_ code: Int32) async throws {
        let calls = FaultInjectingSchedulingCalls(over: SimulatedSchedulingCalls(rights: .all))
        var configuration = configuration(calls)
        configuration.processors = 1
        try await withScheduler(configuration) { scheduler in
            #expect(scheduler.snapshot.effectMode == "privileged")
            calls.deny(.setScheduling, with: code)
            let (begun, isOver) = (Gate(), Gate())
            let running = Task(executorPreference: scheduler.executor, priority: .background) {
                begun.open()
                while !isOver.isOpen {}
            }
            await begun.passed()
            scheduler.raise(running, to: .userInteractive)
            while scheduler.snapshot.runningPromoted == 0 { await Task.yield() }
            isOver.open()
            await running.value
            // A fence that stayed up would keep these from running.
            for qosClass in QoSClass.allCases {
                await Task(executorPreference: scheduler.executor(for: qosClass)) {}.value
            }
        }
    }

    @Test("a worker that ends its raised job after its scheduler has closed is hurried all the same")
    func hurriedAfterRaise() async throws {
        let calls = SimulatedSchedulingCalls(rights: .all)
        let scheduler = try QoSScheduler(configuration: configuration(calls))
        let (begun, isOver) = (Gate(), Gate())
        let ids = Collected<ThreadID>()
        let running = Task(executorPreference: scheduler.executor, priority: .background) {
            ids.append(.current)
            begun.open()
            while !isOver.isOpen {}
        }
        await begun.passed()
        scheduler.raise(running, to: .userInteractive)
        while scheduler.snapshot.runningPromoted == 0 { await Task.yield() }
        // Closes at once, and leaves the worker behind.
        _ = try await scheduler.shutdown(within: .zero)
        isOver.open()
        await running.value
        let pool = scheduler.core.group.pools.at(QoSClass.background.rank)
        while !pool.value.workers[0].hasLeft { await Task.yield() }
        let expected = ClassEffects(.userInitiated, mode: .privileged, spread: NiceScope.current().spread)
        #expect(try calls.scheduling(of: ids.all[0]) == expected.scheduling)
    }

    @Test(
        "EAGAIN for threads: the work waits for one, none is lost, and the failures are counted", arguments: [1, 3, 7])
    func noThreads(_ failures: Int) async throws {
        let calls = FaultInjectingSchedulingCalls(over: SimulatedSchedulingCalls(rights: .none))
        try await withScheduler(configuration(calls)) { scheduler in
            calls.deny(.createThread, with: EAGAIN, times: failures)
            let ended = await load(scheduler, tasks: 500, seed: UInt64(failures))
            #expect(ended == 500)
            #expect(scheduler.snapshot.threadStartFailures == UInt64(failures))
        }
    }

    @Test("a class that gets no thread at all does not hold up the end, and its work is run elsewhere")
    func neverAThread() async throws {
        let calls = FaultInjectingSchedulingCalls(over: SimulatedSchedulingCalls(rights: .none))
        let scheduler = try QoSScheduler(configuration: configuration(calls))
        calls.deny(.createThread, with: EAGAIN)
        let tasks = QoSClass.allCases.map { qosClass in
            Task.detached(executorPreference: scheduler.executor(for: qosClass)) { CurrentThread.qosClass }
        }
        while scheduler.snapshot.threadStartFailures < 10 { await Task.yield() }
        let report = try await scheduler.shutdown(within: .zero)
        #expect(report.isClean)
        for task in tasks { #expect(await task.value == nil) }
    }
}
