import QoSCore
import QoSOperations
import QoSRuntime
import Testing

@Suite struct FirstTests {
    @Test func endToEnd() async throws {
        let scheduler = try QoSScheduler(configuration: .init(processors: 2, appliesKernelEffects: false))
        let queue = QoSOperationQueue("q", scheduler: scheduler, level: .utility)
        let a = QoSOperation { 1 }
        let b = QoSOperation { try await a.value + 1 }
        try b.depends(on: a)
        try queue.add([a, b])
        #expect(try await b.value == 2)
        await queue.waitUntilAllFinished()
    }
}
