import QoSCore
import QoSKernel
import QoSRuntimeTestSupport
import QoSTesting
import Synchronization
import Testing

@testable import QoSRuntime

@Suite("A scheduler under load", .tags(.stress, .slow), .timeLimit(.minutes(5)))
struct SchedulerStressTests {
    private actor Sum {
        private let executor: QoSSerialExecutor
        nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }
        private(set) var sum = 0

        init(_ executor: QoSSerialExecutor) {
            self.executor = executor
        }

        func add(_ number: Int) { sum += number }
    }

    private actor PlainSum {
        private(set) var sum = 0
        func add(_ number: Int) { sum += number }
    }

    /// Runs one task's work, by its number; it counts in both sums.
    private static func work(_ kind: Int, _ scheduler: QoSScheduler, _ sums: (Sum, PlainSum)) async {
        switch kind {
        case 0:
            await Task.yield()
        case 1:
            async let first: Void = Task.yield()
            async let second: Void = Task.yield()
            _ = await (first, second)
        case 2:
            await withTaskGroup { group in
                for _ in 0..<3 { group.addTask { await Task.yield() } }
            }
        case 3:
            await scheduler.withQoS(.userInitiated) { await Task.yield() }
        case 4:
            await Task(executorPreference: scheduler.executor, priority: .high) { await Task.yield() }.value
        case 5:
            await withCheckedContinuation { continuation in Task.detached { continuation.resume() } }
        default:
            break
        }
        await sums.0.add(1)
        await sums.1.add(1)
    }

    @Test(
        "100,000 tasks of all classes come to their end, however they wait for one another",
        arguments: [true, false])
    func manyTasks(_ appliesKernelEffects: Bool) async throws {
        let seed: UInt64 = appliesKernelEffects ? 11 : 12
        try await withScheduler(.init(processors: 2, appliesKernelEffects: appliesKernelEffects)) { scheduler in
            let sums = (Sum(scheduler.makeSerialExecutor()), PlainSum())
            var random = SeededGenerator(seed: seed)
            // In rounds: the library looks through all children of a group when one of them ends.
            for _ in 0..<100 {
                await withTaskGroup { group in
                    for _ in 0..<1_000 {
                        let qosClass = QoSClass.allCases[Int.random(in: 0..<5, using: &random)]
                        let kind = Int.random(in: 0..<10, using: &random)
                        let goesByClass = Bool.random(using: &random)
                        let executor = goesByClass ? scheduler.executor(for: qosClass) : scheduler.executor
                        group.addTask(executorPreference: executor, priority: qosClass.taskPriority) {
                            await Self.work(kind, scheduler, sums)
                        }
                    }
                }
            }
            let (own, plain) = await (sums.0.sum, sums.1.sum)
            #expect(own == 100_000, "seed \(seed)")
            #expect(plain == 100_000, "seed \(seed)")
        }
    }

    @Test(
        "low tasks that high ones await are raised again and again, and admission counts right in the end",
        arguments: [true, false])
    func promotions(_ appliesKernelEffects: Bool) async throws {
        try await withScheduler(.init(processors: 2, appliesKernelEffects: appliesKernelEffects)) { scheduler in
            for _ in 0..<20 {
                await withTaskGroup { group in
                    for index in 0..<200 {
                        let low = Task.detached(executorPreference: scheduler.executor, priority: .background) {
                            spin(index % 7 * 20)
                            await Task.yield()
                            spin(index % 5 * 20)
                        }
                        group.addTask(executorPreference: scheduler.executor, priority: .userInteractive) {
                            await low.value
                        }
                    }
                }
            }
            #expect(scheduler.snapshot.tasksMoved + scheduler.snapshot.runningPromoted > 0)
            // Every worker goes to sleep, and none stays counted. Then no fence may be up.
            await scheduler.countsNoWorker()
            while scheduler.core.group.admission.state.withLock({ $0.machine.raisedFences }) > 0 { await Task.yield() }
        }
    }

    @Test("children of an async let run in every pool while their parents come and go")
    func asyncLet() async throws {
        try await withScheduler { scheduler in
            let sum = await withTaskGroup(of: Int.self) { group in
                for index in 0..<20_000 {
                    let qosClass = QoSClass.allCases[index % 4]
                    group.addTask(executorPreference: scheduler.executor(for: qosClass)) {
                        async let first = Task.currentPriority.rawValue > 0 ? 1 : 0
                        async let second = Task.isCancelled ? 0 : 1
                        let bytes = Array(repeating: await first, count: 64)
                        return await bytes[index % 64] + second
                    }
                }
                return await group.reduce(0, +)
            }
            #expect(sum == 40_000)
        }
    }
}

/// Keeps the processor for some microseconds.
private func spin(_ microseconds: Int) {
    let end = ContinuousClock.now + .microseconds(microseconds)
    while ContinuousClock.now < end {}
}
