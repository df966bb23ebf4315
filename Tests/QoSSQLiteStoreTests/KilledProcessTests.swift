#if SQLite
import Glibc
import QoSFileTestSupport
import QoSProcessTestSupport
import QoSRuntime
import QoSSQLiteStore
import Synchronization
import Testing

/// Finishes the items of `QoSStoreKills`.
private struct Finishing: Workload {
    static let name: WorkloadName = "steps"
    struct Parameters: Codable, Sendable { var number: Int }

    func run(_ parameters: Parameters, in context: WorkloadContext<NoCheckpoint>) async throws -> WorkloadOutcome {
        .finished
    }
}

/// The leases are of an hour: a test that waits for one of them never ends.
@Suite("Leases of killed processes")
struct KilledProcessTests {
    private func host(
        _ store: SQLiteStore, _ scheduler: QoSScheduler, _ workloads: [any Workload],
        _ observer: @escaping @Sendable (WorkloadHostEvent) -> Void = { _ in }
    ) throws -> WorkloadHost {
        var configuration = WorkloadHost.Configuration()
        configuration.leaseDuration = .seconds(3600)
        configuration.observer = observer
        return try WorkloadHost(store: store, scheduler: scheduler, workloads: workloads, configuration: configuration)
    }

    @Test("a host that starts after the kill goes on with the items at once")
    func startedAfter() async throws {
        let place = try StorePlace()
        let ending = try await DriverProcess(
            program: "QoSStoreKills", ["worker", place.folder.path, "run.worked", "1"]
        ).ending()
        #expect(ending.wasKilledBySignal, "\(ending.errors)")
        let store = try place.open()
        let left = try await store.leases()
        #expect(!left.isEmpty)
        let scheduler = try QoSScheduler()
        let host = try host(store, scheduler, [Finishing()])
        async let running: Void = host.run()
        for sighting in left {
            #expect(try await host[sighting.lease.item].waitUntilFinished(promotes: false) == .finished)
            #expect(try await (store.record(of: sighting.lease.item)?.life.fence ?? 0) > sighting.lease.fence)
        }
        host.stop()
        try await running
        try await scheduler.shutdown()
    }

    @Test("a host that runs beside the killed process takes its leases back at once")
    func besideIt() async throws {
        let place = try StorePlace()
        let store = try place.open()
        let changes = store.changes()
        // It works at items for seconds, and never reaches the point at which it would kill itself.
        let process = try DriverProcess(
            program: "QoSStoreKills", ["worker", place.folder.path, "renew.committed", "1000000"])
        for await _ in changes where try await !store.leases().isEmpty { break }
        let (events, reclaims) = AsyncStream.makeStream(of: LeaseSighting.self)
        let scheduler = try QoSScheduler()
        let host = try host(store, scheduler, []) { event in
            if case .leaseReclaimed(let sighting) = event { reclaims.yield(sighting) }
        }
        async let running: Void = host.run()
        process.send(SIGKILL)
        #expect(await process.ending().wasKilledBySignal)
        let reclaimed = await events.first { _ in true }
        #expect(reclaimed?.process?.hasPrefix("linux:") == true)
        host.stop()
        try await running
        try await scheduler.shutdown()
    }
}
#endif
