import QoSCore
import QoSRuntime
import QoSRuntimeTestSupport
import Testing

@Suite("Blocked workers", .timeLimit(.minutes(5)))
struct BlockingTests {
    /// Starts jobs that block their threads until the gate opens, and comes back when all of them run.
    private func block(
        _ count: Int, at qosClass: QoSClass, on scheduler: QoSScheduler, until gate: Gate, declared: Bool
    ) async -> [Task<Void, Never>] {
        let (runs, isRunning) = AsyncStream.makeStream(of: Void.self)
        let tasks = (0..<count).map { _ in
            Task(executorPreference: scheduler.executor(for: qosClass)) {
                isRunning.yield()
                if declared {
                    QoS.checkpoint()
                    blockDeclared(gate)
                } else {
                    blockThread(gate)
                }
            }
        }
        var running = 0
        for await _ in runs {
            running += 1
            if running == count { break }
        }
        return tasks
    }

    private func blockThread(_ gate: Gate) { gate.blockThread() }
    private func blockDeclared(_ gate: Gate) { QoS.withBlocking { gate.blockThread() } }

    @Test("jobs run although each worker of their class is blocked, declared or not", arguments: [true, false])
    func others(declared: Bool) async throws {
        try await withScheduler(.init(processors: 2, appliesKernelEffects: false)) { scheduler in
            for qosClass in QoSClass.allCases {
                let gate = Gate()
                // More than there are workers: the later ones run only because others stand in for the first.
                let blocked = await block(6, at: qosClass, on: scheduler, until: gate, declared: declared)
                let next = Task(executorPreference: scheduler.executor(for: qosClass)) { 1 }
                #expect(await next.value == 1)
                gate.open()
                for task in blocked { await task.value }
            }
            let snapshot = scheduler.snapshot
            if declared { #expect(snapshot.blockedDeclared == 30) } else { #expect(snapshot.blockedDetected > 0) }
        }
    }

    @Test("a job that was seen to block and then declares it is counted in both ways, and once at a time")
    func detectedThenDeclared() async throws {
        try await withScheduler(.init(processors: 2, appliesKernelEffects: false)) { scheduler in
            let (first, second, running) = (Gate(), Gate(), Tally())
            let blocked = (0..<4).map { _ in
                Task(executorPreference: scheduler.executor(for: .utility)) {
                    running.add()
                    blockThread(first)
                    blockDeclared(second)
                }
            }
            // There are two workers: the third job runs because others stand in.
            while running.value < 4 { await Task.yield() }
            #expect(scheduler.snapshot.blockedDetected > 0)
            first.open()
            while scheduler.snapshot.blockedDeclared < 4 { await Task.yield() }
            second.open()
            for task in blocked { await task.value }
            let snapshot = scheduler.snapshot
            #expect(snapshot.blockedDeclared == 4)
            #expect(snapshot.pools.allSatisfy { $0.blocked == 0 })
        }
    }

    @Test("the threads that stood in go away again")
    func backToWidth() async throws {
        try await withScheduler(.init(processors: 2, appliesKernelEffects: false)) { scheduler in
            let gate = Gate()
            let blocked = await block(10, at: .utility, on: scheduler, until: gate, declared: true)
            #expect((scheduler.snapshot.pools.first { $0.qosClass == .utility }?.workers ?? 0) >= 10)
            gate.open()
            for task in blocked { await task.value }
            // Bounded by the suite's time limit.
            while scheduler.snapshot.pools.contains(where: { $0.workers > $0.width || $0.blocked > 0 }) {
                await Task.yield()
            }
            // And the pool is as good as new.
            let tasks = (0..<1000).map { number in
                Task(executorPreference: scheduler.executor(for: .utility)) { number }
            }
            for (number, task) in tasks.enumerated() { #expect(await task.value == number) }
        }
    }

    @Test("no more than a bounded number stands in; the others wait, and it is counted")
    func bounded() async throws {
        try await withScheduler(.init(processors: 2, appliesKernelEffects: false)) { scheduler in
            let gate = Gate()
            let running = Tally()
            let tasks = (0..<60).map { _ in
                Task(executorPreference: scheduler.executor(for: .default)) {
                    running.add()
                    blockDeclared(gate)
                }
            }
            while scheduler.snapshot.uncompensated == 0 { await Task.yield() }
            #expect(running.value <= 34)
            gate.open()
            for task in tasks { await task.value }
            #expect(running.value == 60)
        }
    }

    @Test("a declaration within another one counts once, and one outside of a worker just runs")
    func nested() async throws {
        #expect(nestedDeclaration() == 3)
        try await withScheduler(.init(processors: 2, appliesKernelEffects: false)) { scheduler in
            let task = Task(executorPreference: scheduler.executor(for: .utility)) {
                nestedDeclaration()
            }
            #expect(await task.value == 3)
            #expect(scheduler.snapshot.blockedDeclared == 1)
            #expect(scheduler.snapshot.pools.allSatisfy { $0.blocked == 0 })
        }
    }

    private func nestedDeclaration() -> Int {
        QoS.withBlocking { QoS.withBlocking { 1 } + QoS.withBlocking { 2 } }
    }

    @Test("errors come through, from the waiting form as well")
    func errors() async throws {
        struct Refused: Error {}
        try await withScheduler(.init(processors: 2, appliesKernelEffects: false)) { scheduler in
            let task = Task(executorPreference: scheduler.executor(for: .utility)) {
                await #expect(throws: Refused.self) { try await QoS.withBlocking { throw Refused() } }
                return await QoS.withBlocking { 5 }
            }
            #expect(await task.value == 5)
        }
    }

    @Test("a job that stays at checkpoints lets higher classes pass and comes to its end", .tags(.stress))
    func checkpoints() async throws {
        try await withScheduler(.init(processors: 2, appliesKernelEffects: false)) { scheduler in
            let stop = Gate()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for qosClass in [QoSClass.background, .utility, .default] {
                    for _ in 0..<4 {
                        group.addTask(executorPreference: scheduler.executor(for: qosClass)) {
                            for _ in 0..<20_000 { QoS.checkpoint() }
                            await QoS.yieldIfNeeded()
                        }
                    }
                }
                let high = (0..<4).map { _ in
                    Task(executorPreference: scheduler.executor(for: .userInteractive)) {
                        while !stop.isOpen { await Task.yield() }
                    }
                }
                try await group.waitForAll()
                stop.open()
                for task in high { await task.value }
            }
        }
    }
}
