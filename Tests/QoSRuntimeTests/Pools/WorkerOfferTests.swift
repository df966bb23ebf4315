import QoSCore
import QoSRuntimeTestSupport
import Testing

@testable import QoSRuntime

@Suite("Nodes offered to a worker", .timeLimit(.minutes(5)))
struct WorkerOfferTests {
    @Test("are given back by a worker without a thread, whose queue no thread looks through")
    func notStarted() async throws {
        try await withScheduler { scheduler in
            let made = MadeNodes(count: 3)
            let pool = scheduler.core.group.pools.at(QoSClass.utility.rank)
            let rest = pool.value.workers[1].offer(made.list(0..<3))
            #expect(made.numbers(in: rest) == [0, 1, 2])
            let isEmpty = pool.value.workers[1].queue.isEmpty
            #expect(isEmpty)
        }
    }
}
