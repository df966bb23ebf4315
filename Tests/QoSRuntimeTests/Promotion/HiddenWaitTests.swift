import QoSProcessTestSupport
import QoSRuntimeTestSupport
import Testing

/// In processes of their own: other tests need places in the tables.
@Suite("The waits of tasks whose record does not show a raise", .timeLimit(.minutes(5)))
struct HiddenWaitTests {
    @Test(
        "a wait that finds no place in the full table is raised and ends like any other, and leaves all places free",
        .needsKnownLayout)
    func fullTable() async throws {
        let ending = try await DriverProcess("many-hidden-waits").ending()
        #expect(ending.status == 0, "\(ending)")
        // The table has 256 entries.
        #expect(ending.findings["many.raised"] == "400")
        #expect(ending.findings["many.ran"] == "400")
        #expect(ending.findings["few.raised"] == "8")
        #expect(ending.findings["few.ran"] == "8")
    }

    @Test(
        "tasks are cancelled, raised and awaited while threads look at their waits, and the scheduler may end: each ends once",
        .tags(.stress), arguments: 1...8)
    func mixed(_ seed: Int) async throws {
        let ending = try await DriverProcess("hidden-waits-under-load", String(seed)).ending()
        #expect(ending.status == 0, "\(ending)")
        #expect(ending.findings == ["ended": "1500", "clean": "true"], "seed \(seed)")
    }
}
