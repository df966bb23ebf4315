import QoSCore
import QoSProcessTestSupport
import QoSRuntime
import Testing

@Suite("The kind of the process", .tags(.process), .timeLimit(.minutes(5)))
struct ProcessKindTests {
    @Test("T5 the main thread of a service runs at default")
    func service() async throws {
        let ending = try await DriverProcess("service-kind").ending()
        #expect(ending.status == 0)
        #expect(
            ending.findings == [
                "kind": "service", "body": "userInitiated", "plain": "default", "plain-inferred": "default",
                "utility": "utility", "utility-inferred": "utility", "main-thread": "default",
                "operation": "userInitiated",
            ])
    }

    @Test(
        "T5 O2 the main thread of an interactive process runs at userInteractive; what is created on it infers userInitiated"
    )
    func interactive() async throws {
        let ending = try await DriverProcess("interactive-kind").ending()
        #expect(ending.status == 0)
        #expect(
            ending.findings == [
                "kind": "interactive", "body": "userInitiated", "plain": "userInteractive",
                "plain-inferred": "userInitiated",
                "utility": "utility", "utility-inferred": "utility", "main-thread": "userInteractive",
                "operation": "userInitiated",
            ])
    }

    @Test("T5 a process is a service unless something else is chosen at start-up")
    func standard() {
        #expect(QoSProcess.Configuration().kind == .service)
        #expect(QoSProcess.Kind.service.mainLevel == .default)
        #expect(QoSProcess.Kind.interactive.mainLevel == .userInteractive)
        #expect(QoSProcess.kind == .service)
    }
}
