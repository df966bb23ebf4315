import QoSProcessTestSupport
import Testing

@Suite("What blocks the end of the process", .tags(.process), .timeLimit(.minutes(5)))
struct ProcessHoldTests {
    @Test("work that declared it is waited for after the body has ended")
    func waited() async throws {
        let ending = try await DriverProcess("holds-the-end").ending()
        #expect(ending.status == 0, "\(ending)")
        #expect(ending.findings["body"] == "ended")
        #expect(ending.findings["held"] == "ended")
    }

    @Test("but no longer than the grace")
    func forever() async throws {
        let ending = try await DriverProcess("holds-forever", "50").ending()
        #expect(ending.status == 0, "\(ending)")
        #expect(ending.findings["body"] == "ended")
        #expect(ending.findings["held"] == nil)
        #expect(ending.errors.contains("blocks the end"))
    }
}
