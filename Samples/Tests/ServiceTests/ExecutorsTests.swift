import QoSCore
import Testing

@testable import qos_service

@Suite("Where work runs")
struct ExecutorsTests {
    @Test("background work that a request waits for stays background work")
    func staysInBackground() async throws {
        let priorities: [TaskPriority] = try await Task(priority: .userInitiated) {
            try await runTask(at: .background) {
                var priorities: [TaskPriority] = []
                for _ in 0..<20 {
                    priorities.append(Task.currentPriority)
                    await Task.yield()
                }
                return priorities
            }
        }.value
        #expect(priorities.allSatisfy { $0 == .background })
    }

    @Test("cancellation reaches the work, and the work's end is waited for")
    func passesCancellationOn() async throws {
        let (started, continuation) = AsyncStream.makeStream(of: Void.self)
        let task = Task {
            try await runTask(at: .background) {
                continuation.finish()
                while !Task.isCancelled { await Task.yield() }
                return "ended in order"
            }
        }
        for await _ in started {}
        task.cancel()
        #expect(try await task.value == "ended in order")
    }

    @Test("errors come through")
    func throwsErrors() async {
        await #expect(throws: CancellationError.self) {
            try await runTask(at: .userInitiated) { throw CancellationError() }
        }
    }
}
