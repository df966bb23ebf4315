import QoSCore
import QoSRuntime
import QoSWorkloads
import Synchronization
import Testing

/// Counts to ten, with a checkpoint after each.
private struct Counting: Workload {
    static let name: WorkloadName = "counting"
    struct Parameters: Codable, Sendable { var to: Int }
    struct Checkpoint: Codable, Sendable { var done = 0 }

    func run(_ parameters: Parameters, in context: WorkloadContext<Checkpoint>) async throws -> WorkloadOutcome {
        #expect(QoS.activity?.reason == "counting" && QoS.activity?.parentID == nil)
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

/// Keeps its thread until the leases were renewed often enough, or all hope is lost.
private struct Spinning: Workload {
    static let name: WorkloadName = "spinning"
    struct Parameters: Codable, Sendable {}
    let store: ForgetfulStore
    let limit = ContinuousClock.now + .seconds(60)

    func run(_ parameters: Parameters, in context: WorkloadContext<NoCheckpoint>) async throws -> WorkloadOutcome {
        while store.renewals.load(ordering: .relaxed) < 2, !context.shouldDefer, ContinuousClock.now < limit {}
        return .finished
    }
}

@Suite("Hosts on threads")
struct ThreadedHostTests {
    @Test("items of two hosts on one store finish on threads, each at its class and as an activity of its own")
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

    @Test("items that keep all threads of the highest class busy starve no heartbeat", .timeLimit(.minutes(5)))
    func starvedHeartbeats() async throws {
        let scheduler = try QoSScheduler(configuration: .init(workers: [.userInteractive: 2]))
        let store = ForgetfulStore()
        let lost = Collected<WorkloadHostEvent>()
        var configuration = WorkloadHost.Configuration()
        configuration.places = [.userInteractive: 8]
        // A third of it passes until the first renewal.
        configuration.leaseDuration = .seconds(6)
        configuration.observer = { if case .leaseLost = $0 { lost.append($0) } }
        let host = try WorkloadHost(
            store: store, scheduler: scheduler, workloads: [Spinning(store: store)], configuration: configuration)
        let requests = try (0..<8).map { _ in try WorkloadRequest(for: Spinning.self, .init(), level: .userInteractive)
        }
        let items = try await host.submit(requests)
        async let running: Void = host.run()
        for item in items { #expect(try await item.waitUntilFinished(promotes: false) == .finished) }
        #expect(store.renewals.load(ordering: .relaxed) >= 2)
        #expect(lost.values.isEmpty)
        for item in items { #expect(try await item.record?.life.fence == 1) }
        host.stop()
        try await running
        try await scheduler.shutdown()
    }
}
