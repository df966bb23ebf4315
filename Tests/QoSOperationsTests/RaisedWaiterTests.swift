import QoSCore
import QoSOperations
import QoSRuntime
import QoSRuntimeTestSupport
import Testing

@Suite("A raise at the beginning of a wait for operations", .timeLimit(.minutes(5)))
struct RaisedWaiterTests {
    @Test(
        "O9 a task that is raised just as it begins to wait raises what it waits for; else the test does not end",
        arguments: [false, true])
    func raisedWaiter(_ awaitsQueue: Bool) async throws {
        try await withScheduler { scheduler in
            for _ in 0..<300 {
                let queue = QoSOperationQueue(scheduler: scheduler)
                let (begun, goOn, begins) = (Gate(), Gate(), Gate())
                let operation = queue.addOperation(level: .background) {
                    begun.open()
                    await goOn.passed()
                }
                await begun.passed()
                let waiter = Task.detached(executorPreference: scheduler.executor(for: .utility), priority: .utility) {
                    begins.open()
                    if awaitsQueue {
                        try await queue.waitUntilAllFinished()
                    } else {
                        try await operation.waitUntilFinished()
                    }
                }
                await begins.passed()
                waiter.escalatePriority(to: .high)
                while operation.effectiveLevel != .userInitiated { await Task.yield() }
                goOn.open()
                try await waiter.value
            }
        }
    }
}
