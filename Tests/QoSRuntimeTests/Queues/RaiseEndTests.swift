import QoSCore
import QoSKernelTestSupport
import QoSRuntimeTestSupport
import Testing

@testable import QoSRuntime

@Suite("The end of a raise for an item", .timeLimit(.minutes(5)))
struct RaiseEndTests {
    private var configuration: QoSScheduler.Configuration {
        var configuration = QoSScheduler.Configuration(
            processors: 2, workers: [.background: 1], detectsBlocking: false)
        configuration.schedulingCalls = SimulatedSchedulingCalls(rights: .all)
        return configuration
    }

    /// The class to which the calling worker is raised.
    private static var raise: QoSClass? { Worker.current?.value.boost.withLock { $0.qosClass } }

    @Test("B13 the worker ends the raise with the item, before it runs the next one")
    func nextItem() async throws {
        try await withScheduler(configuration) { scheduler in
            let queue = scheduler.makeQueue("queue", level: .background)
            let (begun, isOver) = (Gate(), Gate())
            let raised = WorkItem {
                begun.open()
                while Self.raise != .userInteractive {}
            }
            let seen = Collected<QoSClass?>()
            try queue.async(raised)
            await begun.passed()
            queue.async {
                seen.append(Self.raise)
                isOver.open()
            }
            let waiter = QoSThread(name: "waiter", level: .userInteractive) { try raised.blockUntilFinished() }
            try waiter.start()
            await isOver.passed()
            try waiter.join()
            #expect(seen.all == [nil])
        }
    }

    private static func raisedItem(_ queue: WorkQueue, _ begun: Gate) throws {
        try queue.sync {
            begun.open()
            while raise != .userInteractive {}
        }
    }

    @Test("I3 a task of a high record loses the raise for an item that it ran, and runs on at its class")
    func hiddenTask() async throws {
        try await withScheduler(configuration) { scheduler in
            let queue = scheduler.makeQueue("queue")
            let (begun, isOver) = (Gate(), Gate())
            Task.detached(executorPreference: scheduler.executor(for: .background), priority: .userInitiated) {
                #expect(throws: Never.self) { try Self.raisedItem(queue, begun) }
                while Self.raise != nil {}
                isOver.open()
            }
            await begun.passed()
            queue.async(level: .userInteractive) {}
            await isOver.passed()
        }
    }
}
