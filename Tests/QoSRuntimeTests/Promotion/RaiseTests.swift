import QoSCore
import QoSRuntimeTestSupport
import QoSTesting
import Synchronization
import Testing

@testable import QoSRuntime

@Suite("An explicit raise", .timeLimit(.minutes(5)))
struct RaiseTests {
    @Test("I4 a raised task that waits among many starts in the higher pool, and the others stay where they are")
    func waiting() async throws {
        let configuration = QoSScheduler.Configuration(
            processors: 1, appliesKernelEffects: false, detectsBlocking: false)
        try await withScheduler(configuration) { scheduler in
            let (busy, release) = (Gate(), Gate())
            let hog = Task(executorPreference: scheduler.executor(for: .utility)) {
                busy.open()
                release.blockThread()
            }
            await busy.passed()
            let names = Collected<String>()
            let tasks = (0..<2000).map { _ in
                Task(executorPreference: scheduler.executor(for: .utility)) { names.append(CurrentThread.name) }
            }
            for number in [1999, 0, 1000] {
                scheduler.raise(tasks[number], to: .userInitiated)
                await tasks[number].value
            }
            #expect(names.all == ["qos-in-0", "qos-in-0", "qos-in-0"])
            #expect(scheduler.snapshot.tasksMoved == 3)
            release.open()
            for task in tasks { await task.escaped }
            await hog.value
            #expect(names.all.dropFirst(3).allSatisfy { $0 == "qos-ut-0" })
        }
    }

    @Test("I4 a raise to a class that is not higher, or of a task that has ended, changes nothing")
    func nothing() async throws {
        try await withScheduler { scheduler in
            let task = Task(executorPreference: scheduler.executor(for: .utility)) { 3 }
            scheduler.raise(task, to: .background)
            #expect(await task.value == 3)
            scheduler.raise(task, to: .userInteractive)
            #expect(await task.value == 3)
        }
    }

    @Test(
        "I4 raises at any moment lose no task and run none twice", .tags(.stress),
        arguments: 1...6 as ClosedRange<UInt64>)
    func stress(seed: UInt64) async throws {
        try await withScheduler { scheduler in
            let other = try QoSScheduler(configuration: .init(processors: 2, appliesKernelEffects: false))
            var generator = SeededGenerator(seed: seed)
            let runs = Tally()
            var tasks: [Task<Int, Never>] = []
            for number in 0..<3000 {
                // Some of another scheduler, whose queues are not this one's to touch.
                let owner = number % 5 == 0 ? other : scheduler
                let qosClass = QoSClass.allCases[Int.random(in: 0..<4, using: &generator)]
                tasks.append(
                    Task(executorPreference: owner.executor(for: qosClass)) {
                        runs.add()
                        await Task.yield()
                        return number
                    })
                let victim = tasks[Int.random(in: 0..<tasks.count, using: &generator)]
                scheduler.raise(victim, to: QoSClass.allCases[Int.random(in: 0..<5, using: &generator)])
            }
            for (number, task) in tasks.enumerated() { #expect(await task.value == number) }
            #expect(runs.value == 3000, "seed \(seed)")
            try await other.shutdown()
        }
    }
}
