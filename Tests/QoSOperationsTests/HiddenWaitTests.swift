import QoSCore
import QoSOperations
import QoSRuntime
import QoSRuntimeTestSupport
import Testing

@Suite("A wait for operations by a task whose record does not show a raise", .timeLimit(.minutes(5)))
struct HiddenWaitTests {
    @Test(
        "O9 what such a task waits for is raised when something higher awaits the task; else the test does not end",
        .needsKnownLayout, arguments: [false, true], Origin.allCases)
    func awaited(_ awaitsQueue: Bool, _ origin: Origin) async throws {
        try await withScheduler { scheduler in
            let queue = QoSOperationQueue(scheduler: scheduler)
            let (begun, goOn, begins) = (Gate(), Gate(), Gate())
            let operation = queue.addOperation(level: .background) {
                begun.open()
                await goOn.passed()
            }
            await begun.passed()
            let task = origin.start(on: scheduler) {
                begins.open()
                if awaitsQueue {
                    try? await queue.waitUntilAllFinished()
                } else {
                    try? await operation.waitUntilFinished()
                }
            }
            await begins.passed()
            await scheduler.becomesIdle(.background)
            #expect(operation.effectiveLevel == .background)
            let high = scheduler.executor(for: .userInitiated)
            let waiter = Task.detached(executorPreference: high, priority: .userInitiated) { await task.value }
            while operation.effectiveLevel != .userInitiated { await Task.yield() }
            goOn.open()
            await waiter.value
        }
    }
}
