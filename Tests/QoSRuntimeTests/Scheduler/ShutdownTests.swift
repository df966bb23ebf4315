import QoSCore
import QoSRuntimeTestSupport
import QoSTesting
import Testing

@testable import QoSRuntime

@Suite("Shutdown", .timeLimit(.minutes(5)))
struct ShutdownTests {
    private func makeScheduler(_ workers: [QoSClass: Int] = [:]) throws -> QoSScheduler {
        try QoSScheduler(
            configuration: DeniedCalls.applied(
                to: .init(processors: 2, workers: workers, appliesKernelEffects: false, detectsBlocking: false)))
    }

    @Test("a scheduler that was never used ends")
    func unused() async throws {
        let report = try await makeScheduler().shutdown(within: .seconds(600))
        #expect(report.isClean)
        #expect(report.abandonedWorkers.isEmpty)
        #expect(report.loopFailure == nil)
    }

    @Test("a scheduler whose workers of all classes sleep ends at once, and says the same whoever asks again")
    func idle() async throws {
        let scheduler = try makeScheduler()
        for qosClass in QoSClass.allCases {
            await Task(executorPreference: scheduler.executor(for: qosClass)) {}.value
        }
        let report = try await scheduler.shutdown(within: .seconds(600))
        #expect(report.isClean)
        let again = try await scheduler.shutdown(within: .zero)
        #expect(again == report)
    }

    @Test("work that is queued, and work that it adds, is run before the end")
    func drains() async throws {
        let scheduler = try makeScheduler()
        let ran = Tally()
        let group = Task {
            await withTaskGroup { group in
                for index in 0..<500 {
                    group.addTask(executorPreference: scheduler.executor(for: QoSClass.allCases[index % 5])) {
                        await Task.yield()
                        if CurrentThread.qosClass != nil { ran.add() }
                    }
                }
            }
        }
        await group.value
        let report = try await scheduler.shutdown(within: .seconds(600))
        #expect(report.isClean)
        #expect(ran.value == 500)
    }

    @Test("a limit that is set while a scheduler ends holds no work back")
    func lateLimit() async throws {
        let scheduler = try makeScheduler([.background: 1])
        let (begun, isOver) = (Gate(), Gate())
        let first = scheduler.startDetachedTask(at: .background) {
            begun.open()
            isOver.blockThread()
        }
        await begun.passed()
        let second = scheduler.startDetachedTask(at: .background) { CurrentThread.name }
        // Where the limit counts, the second task comes to the process's executor when the grace is over.
        let end = Task { try await scheduler.shutdown(within: .seconds(20)) }
        while !scheduler.core.group.isEnding { await Task.yield() }
        scheduler.setWidthLimit(0, for: .background)
        #expect(scheduler.widthLimit(for: .background) == nil)
        isOver.open()
        #expect(await second.escaped.hasPrefix("qos-bg-"))
        await first.value
        #expect(try await end.value.isClean)
    }

    @Test("from one of its own tasks it works too: the task goes on elsewhere", arguments: QoSClass.allCases)
    func fromInside(_ qosClass: QoSClass) async throws {
        let scheduler = try makeScheduler()
        let (report, before, after) = try await Task(executorPreference: scheduler.executor(for: qosClass)) {
            let before = CurrentThread.qosClass
            let report = try await scheduler.shutdown(within: .seconds(600))
            return (report, before, CurrentThread.qosClass)
        }.value
        #expect(report.isClean)
        #expect(before == qosClass)
        #expect(after == nil)
    }

    @Test("everybody who asks at once gets the same report")
    func severalAtOnce() async throws {
        let scheduler = try makeScheduler()
        let reports = try await withThrowingTaskGroup(of: ShutdownReport.self) { group in
            for index in 0..<20 {
                let executor = scheduler.executor(for: QoSClass.allCases[index % 5])
                group.addTask(executorPreference: index < 10 ? executor : nil) {
                    try await scheduler.shutdown(within: .seconds(600))
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(reports.count == 20)
        #expect(Set(reports).count == 1)
        #expect(reports.allSatisfy { $0.isClean })
    }

    @Test("sleepers do not hold it up, and still sleep long enough")
    func sleepers() async throws {
        let scheduler = try makeScheduler()
        let begun = Gate()
        let count = Tally()
        let sleepers = (0..<50).map { index in
            Task(executorPreference: scheduler.executor(for: QoSClass.allCases[index % 5])) {
                let start = ContinuousClock.now
                if count.add() == 50 { begun.open() }
                try await Task.sleep(for: .milliseconds(300), tolerance: .zero)
                return ContinuousClock.now - start
            }
        }
        await begun.passed()
        let report = try await scheduler.shutdown(within: .seconds(600))
        #expect(report.isClean)
        for sleeper in sleepers {
            let slept = try await sleeper.value
            #expect(slept >= .milliseconds(300))
        }
    }

    @Test("a job that does not end is left behind, named, and no other; what it and others wait for still runs")
    func neverEnding() async throws {
        let scheduler = try makeScheduler([.utility: 2])
        // All pools have workers; one of them is stuck.
        for qosClass in QoSClass.allCases {
            await Task(executorPreference: scheduler.executor(for: qosClass)) {}.value
        }
        let (stuck, release) = (Gate(), Gate())
        let name = Collected<String>()
        let job = Task(executorPreference: scheduler.executor(for: .utility)) {
            name.append(CurrentThread.name)
            stuck.open()
            release.blockThread()
            return 5
        }
        await stuck.passed()
        let report = try await scheduler.shutdown(within: .zero)
        #expect(report.abandonedWorkers == name.all)
        #expect(!report.isClean)
        release.open()
        let result = await job.value
        #expect(result == 5)
    }

    @Test("what a job that does not end has queued is run elsewhere, before and after the closing")
    func queuedBehindStuckJob() async throws {
        let scheduler = try makeScheduler([.utility: 1])
        let core = scheduler.core
        let (queued, goOn) = (Gate(), Gate())
        let (first, second) = (Gate(), Gate())
        let job = Task(executorPreference: scheduler.executor(for: .utility)) {
            _ = Task(executorPreference: scheduler.executor(for: .utility)) { first.open() }
            queued.open()
            // Would wait for ever if what it has queued before and queues now stayed in its worker's queue.
            first.blockThread()
            goOn.blockThread()
            _ = Task(executorPreference: scheduler.executor(for: .utility)) { second.open() }
            second.blockThread()
            return 5
        }
        await queued.passed()
        async let report = scheduler.shutdown(within: .zero)
        while !core.group.isClosed { await Task.yield() }
        goOn.open()
        let result = await job.value
        #expect(result == 5)
        // Whether the worker got a processor within its grace is the machine's affair.
        _ = try await report
    }

    @Test("no sleep is forgotten that begins while the scheduler closes")
    func sleepsWhileClosing() async throws {
        let scheduler = try makeScheduler([.utility: 1])
        let core = scheduler.core
        let (stuck, release) = (Gate(), Gate())
        let job = Task(executorPreference: scheduler.executor(for: .utility)) {
            stuck.open()
            release.blockThread()
        }
        await stuck.passed()
        async let report = scheduler.shutdown(within: .zero)
        while !core.group.isClosed { await Task.yield() }
        // The loop still runs, since a worker has not left: it must not keep what comes in now.
        let woken = try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<1_000 {
                group.addTask(executorPreference: scheduler.executor(for: QoSClass.allCases[index % 5])) {
                    try await Task.sleep(for: .milliseconds(200 + index / 10), tolerance: .zero)
                }
                if index == 500 { release.open() }
            }
            return try await group.reduce(into: 0) { count, _ in count += 1 }
        }
        #expect(woken == 1_000)
        await job.value
        _ = try await report
    }

    @Test(
        "every task that is started before, during and after it comes to its end", .tags(.stress),
        arguments: [1, 2, 3, 4, 5] as [UInt64])
    func tasksMeanwhile(_ seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let scheduler = try makeScheduler()
        let executor = scheduler.makeSerialExecutor()
        let ended = Tally()
        let (isDown, halfway) = (Gate(), Gate())
        let total = 4_000
        let closing = Int.random(in: 0..<total, using: &random)
        let grace: Duration = [.zero, .milliseconds(1), .seconds(600)][Int(seed % 3)]
        async let report = {
            await halfway.passed()
            let report = try await scheduler.shutdown(within: grace)
            isDown.open()
            return report
        }()
        await withTaskGroup { group in
            for index in 0..<total {
                if index == closing { halfway.open() }
                let qosClass = QoSClass.allCases[Int.random(in: 0..<5, using: &random)]
                let kind = Int.random(in: 0..<5, using: &random)
                group.addTask(executorPreference: scheduler.executor(for: qosClass)) {
                    switch kind {
                    case 0: await Task.yield()
                    case 1: try? await Task.sleep(for: .microseconds(500))
                    case 2: await Task { await Task.yield() }.value
                    case 3: await withCheckedContinuation { done in executor.add(qosClass) { done.resume() } }
                    default: if index > closing { await isDown.passed() }
                    }
                    ended.add()
                }
            }
        }
        #expect(ended.value == total, "seed \(seed)")
        let isClean = try await report.isClean
        #expect(isClean, "seed \(seed)")
    }

    @Test("a serial executor goes on after it, one call at a time")
    func serialExecutor() async throws {
        let scheduler = try makeScheduler()
        let executor = scheduler.makeSerialExecutor()
        try await scheduler.shutdown()
        let (finished, inside, overlaps) = (Gate(), Tally(), Tally())
        for number in 1...1_000 {
            executor.add(QoSClass.allCases[number % 5]) {
                let before = inside.value
                if inside.add() != before + 1 { overlaps.add() }
                if number == 1_000 || before + 1 == 1_000 { finished.open() }
            }
        }
        await finished.passed()
        while inside.value < 1_000 { await Task.yield() }
        #expect(overlaps.value == 0)
    }

    @Test("a scheduler that is dropped ends by itself, and its last task still comes to its end")
    func dropped() async throws {
        weak var core: SchedulerCore?
        do {
            let scheduler = try makeScheduler()
            core = scheduler.core
            let task = Task(executorPreference: scheduler.executor(for: .utility)) {
                await Task.yield()
                return CurrentThread.qosClass
            }
            let ranAt = await task.escaped
            #expect(ranAt == .utility)
        }
        // Threads and loop keep it until they are gone.
        while core != nil { await Task.yield() }
        #expect(core == nil)
    }

    @Test("hundreds of schedulers come and go while they are used", .tags(.stress))
    func comeAndGo() async throws {
        let ended = Tally()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<200 {
                group.addTask {
                    let scheduler = try makeScheduler()
                    await withTaskGroup { group in
                        for _ in 0..<10 {
                            group.addTask(executorPreference: scheduler.executor(for: QoSClass.allCases[index % 5])) {
                                await Task.yield()
                                ended.add()
                            }
                        }
                    }
                    if index % 2 == 0 { try await scheduler.shutdown(within: .seconds(600)) }
                }
            }
            try await group.waitForAll()
        }
        #expect(ended.value == 2_000)
    }
}
