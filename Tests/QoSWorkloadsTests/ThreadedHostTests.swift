import QoSCore
import QoSRuntime
import QoSWorkloads
import Testing

/// Counts to ten, with a checkpoint after each.
private struct Counting: Workload {
    static let name: WorkloadName = "counting"
    struct Parameters: Codable, Sendable { var to: Int }
    struct Checkpoint: Codable, Sendable { var done = 0 }

    func run(_ parameters: Parameters, in context: WorkloadContext<Checkpoint>) async throws -> WorkloadOutcome {
        var checkpoint = context.checkpoint ?? Checkpoint()
        while checkpoint.done < parameters.to {
            try await context.breathe()
            checkpoint.done += 1
            try await context.save(checkpoint)
            context.report(checkpoint.done, of: parameters.to)
        }
        return .finished
    }
}

@Suite("Hosts on threads")
struct ThreadedHostTests {
    @Test("items of two hosts on one store finish on threads, each at its class")
    func threads() async throws {
        let scheduler = try QoSScheduler()
        let store = InMemoryWorkloadStore()
        let hosts = try (1...2).map { number in
            var configuration = WorkloadHost.Configuration()
            configuration.name = "host \(number)"
            return try WorkloadHost(
                store: store, scheduler: scheduler, workloads: [Counting()], configuration: configuration)
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for host in hosts { group.addTask { try await host.run() } }
            var items: [WorkloadItem] = []
            for number in 0..<40 {
                let level: QoSLevel = number % 2 == 0 ? .background : .utility
                items.append(try await hosts[0].submit(Counting.self, .init(to: 10), level: level))
            }
            for item in items {
                #expect(try await item.outcome == .finished)
                #expect(try await item.record?.life.fence == 1)
                #expect(try await item.record?.progress == WorkloadProgress(10, of: 10))
            }
            for host in hosts { host.stop() }
            try await group.waitForAll()
        }
        try await scheduler.shutdown()
    }
}
