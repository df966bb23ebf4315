#if ServiceLifecycle
import Logging
import QoSCore
import QoSRuntime
import QoSServiceLifecycle
import QoSWorkloads
import ServiceLifecycle
import Testing

/// Counts without an end, and saves each number.
private struct Endless: Workload {
    static let name: WorkloadName = "endless"
    struct Parameters: Codable, Sendable {
        /// Whether it listens to the host, or to its cancellation alone.
        var isPolite: Bool
    }
    struct Checkpoint: Codable, Sendable { var done = 0 }
    let asked: AsyncStream<Void>.Continuation

    func run(_ parameters: Parameters, in context: WorkloadContext<Checkpoint>) async throws -> WorkloadOutcome {
        var checkpoint = context.checkpoint ?? Checkpoint()
        while !Task.isCancelled {
            if parameters.isPolite { try await context.breathe() }
            if context.shouldDefer { asked.yield() }
            checkpoint.done += 1
            try await context.save(checkpoint)
            await Task.yield()
        }
        throw CancellationError()
    }
}

@Suite("A host as a service", .serialized, .timeLimit(.minutes(5)))
struct WorkloadServiceTests {
    private let store = InMemoryWorkloadStore()

    /// Runs a host with one item in a group until the item has a checkpoint, then ends the group in a way.
    private func run(
        isPolite: Bool, grace: Duration,
        _ end: (ServiceGroup, Task<Void, any Error>, AsyncStream<Void>) async throws -> Void
    ) async throws -> WorkloadRecord? {
        let scheduler = try QoSScheduler()
        var configuration = WorkloadHost.Configuration()
        configuration.endGrace = grace
        let (stops, asked) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let host = try WorkloadHost(
            store: store, scheduler: scheduler, workloads: [Endless(asked: asked)], configuration: configuration)
        let service = host.service
        let group = ServiceGroup(services: [service], logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        let running = Task { try await group.run() }
        let item = try await host.submit(Endless.self, .init(isPolite: isPolite))
        while try await item.record?.checkpoint == nil { await Task.yield() }
        try await end(group, running, stops)
        // A cancelled group reports its cancellation.
        do { try await running.value } catch is CancellationError {}
        let record = try await item.record
        try await scheduler.shutdown(within: .seconds(60))
        return record
    }

    @Test("a graceful shutdown keeps the checkpoint, gives the lease back, and counts no attempt")
    func shutsDown() async throws {
        let record = try await run(isPolite: true, grace: .seconds(3600)) { group, _, _ in
            await group.triggerGracefulShutdown()
        }
        #expect(record?.state == .ready && record?.checkpoint != nil && record?.life.attempts == 0)
        #expect(try await store.leases().isEmpty)
    }

    @Test("a cancellation alone is a graceful shutdown, too")
    func isCancelled() async throws {
        let record = try await run(isPolite: true, grace: .seconds(3600)) { _, task, _ in task.cancel() }
        #expect(record?.state == .ready && record?.checkpoint != nil && record?.life.attempts == 0)
        #expect(try await store.leases().isEmpty)
    }

    @Test("the end of the grace gives back the lease of an attempt that goes on")
    func endsInTime() async throws {
        let record = try await run(isPolite: false, grace: .milliseconds(20)) { group, _, _ in
            await group.triggerGracefulShutdown()
        }
        #expect(record?.state == .ready)
        #expect(try await store.leases().isEmpty)
    }

    @Test("a cancellation during the shutdown ends at once, though an attempt goes on")
    func isCancelledTwice() async throws {
        let record = try await run(isPolite: false, grace: .seconds(3600)) { group, task, stops in
            await group.triggerGracefulShutdown()
            for await _ in stops { break }
            task.cancel()
        }
        #expect(record?.state == .ready)
        #expect(try await store.leases().isEmpty)
    }
}
#endif
