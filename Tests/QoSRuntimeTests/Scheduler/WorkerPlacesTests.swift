import QoSCore
import QoSKernel
import QoSRuntimeTestSupport
import Testing

@testable import QoSRuntime

/// The processors of the worker threads, as the kernel has them (`Docs/Inside/Protocols/placement.md`).
@Suite(
    "Processors of workers", .serialized, .timeLimit(.minutes(3)), .enabled(if: Topology.current().width > 1))
struct WorkerPlacesTests {
    private static let calls = LinuxSchedulingCalls()

    /// Real calls, also where the other tests' calls are denied.
    private static var configuration: QoSScheduler.Configuration {
        var configuration = QoSScheduler.Configuration(detectsBlocking: false)
        configuration.schedulingCalls = calls
        return configuration
    }

    /// The processors on which a thread may run.
    private static func processors(of thread: ThreadID = .current) -> CPUSet {
        (try? calls.affinity(of: thread)) ?? CPUSet([])
    }

    @Test("awake workers of a high class have a processor each", arguments: [QoSClass.userInitiated, .userInteractive])
    func ownProcessors(_ qosClass: QoSClass) async throws {
        // Beside other tests, placement may leave a processor to others. Workers without one run anywhere then.
        while try await !haveOwnProcessors(qosClass) { await Task.yield() }
    }

    /// - Returns: whether each worker was bound.
    private func haveOwnProcessors(_ qosClass: QoSClass) async throws -> Bool {
        try await withScheduler(Self.configuration) { scheduler in
            let width = scheduler.snapshot.processors
            let (awake, places) = (Tally(), Collected<CPUSet>())
            let tasks = (0..<width).map { _ in
                Task.detached(executorPreference: scheduler.executor(for: qosClass), priority: TaskPriority(qosClass)) {
                    awake.add()
                    while awake.value < width {}
                    places.append(Self.processors())
                }
            }
            for task in tasks { await task.value }
            let bound = places.all.filter { $0.count == 1 }
            #expect(Set(bound.flatMap(\.ids)).count == bound.count, "two on one processor: \(places.all)")
            return bound.count == width
        }
    }

    @Test("C7 a starving worker is bound to the lent processor, and may run anywhere afterwards")
    func lentProcessor() async throws {
        try await withScheduler(Self.configuration) { scheduler in
            let all = Self.processors()
            let ended = Gate()
            let high = (0..<8 * scheduler.snapshot.processors).map { _ in
                Task.detached(
                    executorPreference: scheduler.executor(for: .userInitiated), priority: .userInitiated
                ) {
                    while !ended.isOpen {
                        let end = MonotonicClock.nanoseconds() + 100_000
                        while MonotonicClock.nanoseconds() < end {}
                        await Task.yield()
                    }
                }
            }
            let starving = Collected<ThreadID>()
            // Not awaited: that would raise it. It begins on what the kernel leaves to it.
            Task.detached(executorPreference: scheduler.executor(for: .background), priority: .background) {
                while Self.processors().count > 1 {}
                starving.append(.current)
            }
            while starving.all.isEmpty { await Task.yield() }
            ended.open()
            for task in high { await task.value }
            while Self.processors(of: starving.all[0]) != all { await Task.yield() }
        }
    }
}
