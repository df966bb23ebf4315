import QoSCore
import QoSWorkloadsTesting
import Testing

@Suite("The store in memory keeps the promises of stores")
struct ConformanceTests {
    @Test(arguments: WorkloadStoreConformance.checks)
    func inMemory(check: WorkloadStoreConformance.Check) async throws {
        try await WorkloadStoreConformance { InMemoryWorkloadStore() }.run(check)
    }

    /// Each double breaks one promise; the checks must see it.
    @Test("the checks find a store that breaks a promise", arguments: ForgetfulStore.Fault.allCases)
    func broken(fault: ForgetfulStore.Fault) async throws {
        let conformance = WorkloadStoreConformance { ForgetfulStore(fault) }
        var failures = 0
        for check in WorkloadStoreConformance.checks {
            do { try await conformance.run(check) } catch { failures += 1 }
        }
        #expect(failures > 0, "\(fault)")
    }
}
