import QoSCore
import QoSKernelTestSupport
import QoSProcessTestSupport
import QoSRuntimeTestSupport
import Testing

@testable import QoSRuntime

@Suite("A child of a task whose record does not show a raise", .serialized, .timeLimit(.minutes(5)))
struct RunningChildTests {
    private static func configuration(_ rights: SimulatedSchedulingCalls.Rights) -> QoSScheduler.Configuration {
        var configuration = QoSScheduler.Configuration(
            processors: 2, workers: [.background: 1], detectsBlocking: false)
        configuration.schedulingCalls = SimulatedSchedulingCalls(rights: rights)
        return configuration
    }

    @Test(
        "I4 a child that runs is raised when something higher needs the root of its parents, by preference",
        .needsKnownLayout, arguments: RunningChild.allCases, Urgency.allCases)
    func byPreference(_ child: RunningChild, _ urgency: Urgency) async throws {
        for rights in [SimulatedSchedulingCalls.Rights.all, .none] {
            for origin in Origin.allCases {
                try await withScheduler(Self.configuration(rights)) { scheduler in
                    let isRaised = await child.isRaised(urgency, origin, on: scheduler, isProcessWide: false)
                    #expect(isRaised, "\(child), \(urgency), \(origin), \(rights)")
                }
            }
        }
    }

    @Test(
        "I4 a child that runs is raised when something higher needs the root of its parents, process-wide",
        .needsKnownLayout)
    func processWide() async throws {
        let ending = try await DriverProcess("running-children").ending()
        #expect(ending.status == 0, "\(ending)")
        for child in RunningChild.allCases {
            for urgency in Urgency.allCases {
                for origin in Origin.allCases {
                    let name = "\(child).\(urgency).\(origin)"
                    #expect(ending.findings[name] == "true", "\(name)")
                }
            }
        }
    }

    @Test(
        "I4 a child that begins once something higher needs the root goes to that class at once, by preference",
        .needsKnownLayout, arguments: RunningChild.allCases, Origin.allCases)
    func begunLater(_ child: RunningChild, _ origin: Origin) async throws {
        try await withScheduler { scheduler in
            let (begun, goOn, names) = (Gate(), Gate(), Collected<String>())
            let root = origin.start(on: scheduler) {
                begun.open()
                await goOn.passed()
                await child.run { names.append(CurrentThread.name) }
            }
            await begun.passed()
            let high = scheduler.executor(for: .userInitiated)
            let waiter = Task.detached(executorPreference: high, priority: .userInitiated) { await root.value }
            let address = TaskAddress(rawValue: ConcurrencyRuntime.node(of: root).address)
            while ConcurrencyRuntime.classNeeding(task: address) != .userInitiated { await Task.yield() }
            goOn.open()
            await waiter.value
            #expect(names.all.count == 1 && names.all.allSatisfy { $0.hasPrefix("qos-in-") }, "\(names.all)")
        }
    }

    @Test("the root of a published child lives until the worker has retracted the child", .needsKnownLayout)
    func rootIsKept() async {
        let running = RunningTask()
        let (ends, child) = (Gate(), Task {})
        weak var ofRoot: Trace?
        do {
            let trace = Trace()
            ofRoot = trace
            let root = Task { [trace] in
                await ends.passed()
                return trace
            }
            let address = TaskAddress(rawValue: ConcurrencyRuntime.node(of: root).address)
            running.publish(ConcurrencyRuntime.node(of: child).job, root: address)
            running.inspect { _ in #expect(running.inspectedRoot == address) }
            ends.open()
            _ = await root.value
        }
        // The task's result lives as long as the task.
        #expect(ofRoot != nil)
        running.retract()
        running.inspect { _ in Issue.record("still published") }
        #expect(running.inspectedRoot == nil)
        while ofRoot != nil { await Task.yield() }
        await child.value
    }
}

private final class Trace: Sendable {}
