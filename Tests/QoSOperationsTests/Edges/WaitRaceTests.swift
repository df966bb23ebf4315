import QoSCore
import QoSOperations
import QoSRuntime
import QoSRuntimeTestSupport
import Testing

@Suite("Waits for queues that go idle and get more to do", .timeLimit(.minutes(5)))
struct WaitRaceTests {
    @Test(
        "O9 an operation with its queue's only place that waits for all of another queue gets on, or one on the circle is told"
    )
    func placeAndQueue() async throws {
        try await withScheduler { scheduler in
            for _ in 0..<500 {
                let own = QoSOperationQueue("own", scheduler: scheduler, maxConcurrent: .one)
                let awaited = QoSOperationQueue("awaited", scheduler: scheduler)
                let goOn = Gate()
                let other = awaited.addOperation { await goOn.passed() }
                let first = own.addOperation {
                    goOn.open()
                    try await awaited.waitUntilAllFinished()
                }
                let last = own.addOperation {}
                let member = QoSOperation { try await last.waitUntilFinished() }
                let thread = QoSThread(name: "adds") {
                    // As soon as the queue is idle, which is when the first one's wait begins.
                    while awaited.operationCount > 0 {}
                    try? awaited.add(member)
                }
                try thread.start()
                try await thread.value
                for operation in [first, last, member, other] as [BaseOperation]
                where operation.isRunning || operation.isReady {
                    try await operation.waitUntilFinished()
                }
                try await own.waitUntilAllFinished()
                try await awaited.waitUntilAllFinished()
            }
        }
    }
}
