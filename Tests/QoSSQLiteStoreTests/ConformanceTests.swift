#if SQLite
import QoSSQLiteStore
import QoSWorkloadsTesting
import Testing

@Suite("The store in SQLite keeps the promises of stores")
struct ConformanceTests {
    @Test("with one connection", arguments: WorkloadStoreConformance.checks)
    func single(check: WorkloadStoreConformance.Check) async throws {
        let place = try StorePlace()
        try await WorkloadStoreConformance { try place.open() }.run(check)
    }

    @Test("where reopening means a second connection beside the first", arguments: WorkloadStoreConformance.checks)
    func second(check: WorkloadStoreConformance.Check) async throws {
        let place = try StorePlace()
        try await WorkloadStoreConformance(reopen: { _ in try place.open() }, makeStore: { try place.open() })
            .run(check)
    }

    @Test("where the file is closed and opened before each call", arguments: WorkloadStoreConformance.checks)
    func reopened(check: WorkloadStoreConformance.Check) async throws {
        let place = try StorePlace()
        try await WorkloadStoreConformance { try ReopeningStore(place) }.run(check)
    }

    @Test("over two connections in turn", arguments: WorkloadStoreConformance.checks)
    func alternating(check: WorkloadStoreConformance.Check) async throws {
        let place = try StorePlace()
        try await WorkloadStoreConformance { AlternatingStore([try place.open(), try place.open()]) }.run(check)
    }
}
#endif
