import QoSCore
import QoSKernel
import QoSRuntimeTestSupport
import QoSTesting
import Testing

@testable import QoSRuntime

@Suite("Timers of the high classes", .timeLimit(.minutes(5)))
struct PoolTimerTests {
    private static let classes: [QoSClass] = [.userInitiated, .userInteractive]

    @Test("while every worker of the class is busy, the loop sees to it that a sleep ends in time", arguments: classes)
    func busyWorkers(_ qosClass: QoSClass) async throws {
        let configuration = QoSScheduler.Configuration(
            processors: 1, appliesKernelEffects: false, detectsBlocking: false)
        try await withScheduler(configuration) { scheduler in
            let executor = scheduler.executor(for: qosClass)
            try await Task(executorPreference: executor) {
                // The one worker does not come back before the sleep is over, which only the loop can end then.
                let holder = Task(executorPreference: executor) {
                    while !scheduler.core.group.pools[qosClass.rank].hasWork() {}
                }
                try await Task.sleep(for: .milliseconds(5), tolerance: .zero)
                await holder.value
            }.value
        }
    }

    @Test("a task that was begun at once within a running job sleeps no longer than it asks for", arguments: classes)
    func immediate(_ qosClass: QoSClass) async throws {
        try await withScheduler { scheduler in
            let executor = scheduler.executor(for: qosClass)
            await Task(executorPreference: executor) {
                let woke = Gate()
                let sleeper = Task.immediate(executorPreference: executor) {
                    try await Task.sleep(for: .milliseconds(5), tolerance: .zero)
                    woke.open()
                }
                // The job around the sleeper goes on until the sleep is over.
                woke.blockThread()
                _ = await sleeper.result
            }.value
        }
    }

    @Test("a worker that keeps the timers and is told to park by admission goes on keeping them", arguments: classes)
    func limited(_ qosClass: QoSClass) async throws {
        try await withScheduler(.init(processors: 2, appliesKernelEffects: false)) { scheduler in
            let isOver = Gate()
            let task = Task(executorPreference: scheduler.executor(for: qosClass)) {
                defer { isOver.open() }
                for _ in 0..<50 { try await Task.sleep(for: .microseconds(200), tolerance: .zero) }
            }
            // As long as it sleeps and wakes, however long that is.
            var changes = 0
            while changes == 0 || !isOver.isOpen {
                scheduler.setWidthLimit(0, for: qosClass)
                await Task.yield()
                scheduler.setWidthLimit(2, for: qosClass)
                await Task.yield()
                changes += 1
            }
            try await task.value
        }
    }

    @Test("a shutdown ends sleeps as any: nobody who sleeps is forgotten", arguments: classes)
    func shutdown(_ qosClass: QoSClass) async throws {
        for _ in 0..<20 {
            let scheduler = try QoSScheduler(configuration: .init(processors: 2, appliesKernelEffects: false))
            let tasks = (0..<20).map { number in
                Task(executorPreference: scheduler.executor(for: qosClass)) {
                    for _ in 0..<3 { try await Task.sleep(for: .microseconds(100 * number), tolerance: .zero) }
                }
            }
            await Task.yield()
            try await scheduler.shutdown(within: .zero)
            for task in tasks { try await task.value }
        }
    }

    @Test(
        "sleeps, jobs from outside and jobs that stay: all come to their end, none early",
        .tags(.stress), arguments: 1...10 as ClosedRange<UInt64>)
    func mixed(_ seed: UInt64) async throws {
        try await withScheduler(.init(processors: 2, appliesKernelEffects: false)) { scheduler in
            await withTaskGroup(of: Bool.self) { group in
                for number in 0..<40 {
                    let qosClass = Self.classes[number % 2]
                    group.addTask(executorPreference: scheduler.executor(for: qosClass)) {
                        var random = SeededGenerator(seed: seed &* 1_000 &+ UInt64(number))
                        var isLongEnough = true
                        for _ in 0..<50 {
                            let length = Duration.microseconds(Int.random(in: 0..<2_000, using: &random))
                            let start = ContinuousClock.now
                            try? await Task.sleep(
                                for: length, tolerance: .microseconds(Int.random(in: 0..<1_500, using: &random)))
                            if ContinuousClock.now - start < length { isLongEnough = false }
                            let end = MonotonicClock.nanoseconds() + UInt64.random(in: 0..<100_000, using: &random)
                            while MonotonicClock.nanoseconds() < end {}
                        }
                        return isLongEnough
                    }
                }
                for await isLongEnough in group { #expect(isLongEnough, "seed \(seed)") }
            }
        }
    }
}
