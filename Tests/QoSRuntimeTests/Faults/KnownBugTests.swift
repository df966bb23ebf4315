import QoSCore
import QoSKernel
import QoSKernelTestSupport
import QoSProcessTestSupport
import QoSRuntimeTestSupport
import Testing

@testable import QoSRuntime

/// Bugs that other schedulers had, on real threads. Those that need none are in the tests of QoSTesting.
@Suite("Bugs of other schedulers, on real pools", .timeLimit(.minutes(5)))
struct KnownBugTests {
    @Test(
        "the timer of an idle class fires although another class keeps its workers busy (glommio 484)",
        arguments: QoSClass.allCases)
    func idleQueueKeepsTimer(_ sleeper: QoSClass) async throws {
        try await withScheduler { scheduler in
            let isOver = Gate()
            let busy = QoSClass.allCases.filter { $0 != sleeper }.map { qosClass in
                Task(executorPreference: scheduler.executor(for: qosClass)) {
                    while !isOver.isOpen { await Task.yield() }
                }
            }
            await Task(executorPreference: scheduler.executor(for: sleeper)) {
                // The timers are what the test is about.
                for milliseconds in [1, 5, 2, 0, 3] {
                    try? await Task.sleep(for: .milliseconds(milliseconds), tolerance: .zero)
                }
            }.value
            isOver.open()
            for task in busy { await task.value }
        }
    }

    @Test(
        "a task that yields to itself for ever does not starve another one of its class (glommio 431)",
        arguments: QoSClass.allCases)
    func selfYielding(_ qosClass: QoSClass) async throws {
        try await withScheduler(.init(processors: 1, workers: [qosClass: 1], appliesKernelEffects: false)) {
            scheduler in
            let (begun, isOver) = (Gate(), Gate())
            let greedy = Task(executorPreference: scheduler.executor(for: qosClass)) {
                begun.open()
                while !isOver.isOpen { await Task.yield() }
            }
            await begun.passed()
            for _ in 0..<10 {
                await Task(executorPreference: scheduler.executor(for: qosClass)) {}.value
            }
            isOver.open()
            await greedy.value
        }
    }

    @Test("a worker that is about to park sees what comes in at that moment (glommio 53)", .tags(.stress))
    func parkingWhileRunnable() async throws {
        try await withScheduler(.init(processors: 2, appliesKernelEffects: false)) { scheduler in
            // Each round finds the worker on its way to sleep, at another place each time.
            let ran = Tally()
            for round in 0..<5_000 {
                let done = Gate()
                let job = Jobs.make(QoSClass.allCases[round % 5]) {
                    ran.add()
                    done.open()
                }
                scheduler.executor.enqueue(job)
                for _ in 0..<(round % 64 * 8) where done.isOpen {}
                await done.passed()
            }
            #expect(ran.value == 5_000)
        }
    }

    @Test(
        "no worker is born with what its creator was given (folly)",
        arguments: [SimulatedSchedulingCalls.Rights.all, .limit(20), .none])
    func bornNiced(_ rights: SimulatedSchedulingCalls.Rights) async throws {
        let calls = SimulatedSchedulingCalls(rights: rights)
        var configuration = QoSScheduler.Configuration(processors: 2, detectsBlocking: false)
        configuration.schedulingCalls = calls
        try await withScheduler(configuration) { scheduler in
            // Each class's first worker is asked for by a worker of the class below.
            for (creator, created) in zip(QoSClass.allCases, QoSClass.allCases.dropFirst()) {
                await Task(executorPreference: scheduler.executor(for: creator)) {
                    await Task(executorPreference: scheduler.executor(for: created)) {}.value
                }.value
            }
            let effects = scheduler.workerEffects
            #expect(effects.count >= 6)
            for effect in effects where effect.threadName.hasPrefix("qos-") {
                #expect(effect.applied.missing.isEmpty, "\(effect.threadName): \(effect.applied.missing)")
            }
        }
    }

    @Test(
        "a running background task can be raised, with privilege and without (Chromium)",
        arguments: [SimulatedSchedulingCalls.Rights.all, .none])
    func runningBackground(_ rights: SimulatedSchedulingCalls.Rights) async throws {
        var configuration = QoSScheduler.Configuration(processors: 1, detectsBlocking: false)
        configuration.schedulingCalls = SimulatedSchedulingCalls(rights: rights)
        try await withScheduler(configuration) { scheduler in
            let (begun, isOver) = (Gate(), Gate())
            let running = Task(executorPreference: scheduler.executor, priority: .background) {
                begun.open()
                while !isOver.isOpen {}
            }
            await begun.passed()
            scheduler.raise(running, to: .userInitiated)
            while scheduler.snapshot.runningPromoted == 0 { await Task.yield() }
            isOver.open()
            await running.value
            #expect(scheduler.snapshot.runningPromoted == 1)
        }
    }

    @Test(
        "a sleeper is woken although every thread of the process's default executor is blocked",
        .timeLimit(.minutes(5))
    )
    func sleeperNeedsNoDefaultExecutor() async throws {
        let driver = try DriverProcess("sleeps-beside-blocked-default")
        let ending = await driver.ending()
        #expect(ending.status == 0, "\(ending)")
        #expect(ending.findings["slept"] == "10")
        #expect(ending.findings["slept-on-thread"] == "10")
    }
}
