import QoSCore
import QoSRuntime
import QoSRuntimeTestSupport
import QoSWorkloads
import Testing

@Suite("A wait for an item by a task whose record does not show a raise", .timeLimit(.minutes(5)))
struct HiddenWaitTests {
    @Test(
        "O9 the item is raised when something higher awaits the task; else the test does not end", .needsKnownLayout,
        arguments: Origin.allCases)
    func awaited(_ origin: Origin) async throws {
        try await withScheduler { scheduler in
            let (isOver, levels) = (Gate(), Collected<QoSLevel>())
            var configuration = WorkloadHost.Configuration()
            configuration.observer = { event in
                if case .itemRaised(_, let level) = event { levels.append(level) }
            }
            let workload = Scripted { _, _ in
                await isOver.passed()
                return .finished
            }
            let host = try WorkloadHost(
                store: InMemoryWorkloadStore(), scheduler: scheduler, workloads: [workload],
                configuration: configuration)
            async let running: Void = host.run()
            let item = try await host.submit(Scripted.self, .init(), level: .background)
            let task = origin.start(on: scheduler) { _ = try? await item.outcome }
            // The wait has begun: it has raised the item to the level of the waiting task.
            while levels.values.isEmpty { await Task.yield() }
            #expect(levels.values == [.background])
            let high = scheduler.executor(for: .userInitiated)
            let waiter = Task.detached(executorPreference: high, priority: .userInitiated) { await task.value }
            while levels.values.last != .userInitiated { await Task.yield() }
            #expect(try await item.record?.level == .userInitiated)
            isOver.open()
            await waiter.value
            host.stop()
            try await running
        }
    }
}
