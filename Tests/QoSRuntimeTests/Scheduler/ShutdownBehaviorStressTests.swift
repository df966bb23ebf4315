import QoSCore
import QoSRuntimeTestSupport
import QoSTesting
import Testing

@testable import QoSRuntime

@Suite("What work declares for a shutdown, under load", .tags(.stress), .timeLimit(.minutes(5)))
struct ShutdownBehaviorStressTests {
    @Test(
        "tasks and items of all behaviors, before, during and after: each comes to its end, and so does the shutdown",
        arguments: 1...5 as ClosedRange<UInt64>)
    func mixed(_ seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let scheduler = try QoSScheduler(
            configuration: DeniedCalls.applied(
                to: .init(processors: 2, appliesKernelEffects: false, detectsBlocking: false)))
        let queues = [
            scheduler.makeQueue("serial"), scheduler.makeQueue("concurrent", .concurrent),
            scheduler.globalQueue(for: .utility),
        ]
        let (ended, halfway) = (Tally(), Gate())
        let total = 3_000
        let grace: Duration = [.zero, .milliseconds(1), .seconds(600)][Int(seed % 3)]
        async let report = {
            await halfway.passed()
            return try await scheduler.shutdown(within: grace)
        }()
        await withTaskGroup { group in
            for index in 0..<total {
                if index == total / 2 { halfway.open() }
                let behavior = ShutdownBehavior.allCases[Int.random(in: 0..<3, using: &random)]
                let qosClass = QoSClass.allCases[Int.random(in: 0..<5, using: &random)]
                let queue = queues[Int.random(in: 0..<3, using: &random)]
                let kind = Int.random(in: 0..<5, using: &random)
                group.addTask(executorPreference: scheduler.executor(for: qosClass, onShutdown: behavior)) {
                    switch kind {
                    case 0: await Task.yield()
                    // Comes back by a timer, whether that is before, during or after the shutdown.
                    case 1: try? await Task.sleep(for: .microseconds(300))
                    case 2:
                        await scheduler.withQoS(qosClass, onShutdown: behavior) { await Task.yield() }
                    case 3: try? await queue.run(flags: .onShutdown(behavior)) {}
                    default:
                        let item = WorkItem(flags: .onShutdown(behavior)) {}
                        try? await queue.run(item)
                    }
                    ended.add()
                }
            }
        }
        #expect(ended.value == total, "seed \(seed)")
        let isClean = try await report.isClean
        #expect(isClean, "seed \(seed)")
        #expect(scheduler.core.shutdownHolds.isEmpty, "seed \(seed)")
    }
}
