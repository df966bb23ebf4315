#if ServiceLifecycle
import Glibc
import QoSProcessTestSupport
import Testing

@Suite("Signals to a host whose workload ignores its cancellation", .timeLimit(.minutes(5)))
struct SignalTests {
    /// Starts a program, and returns after the host has asked its workload to stop because of a signal.
    private func asked(_ kind: String, _ signal: Int32) async throws -> DriverProcess {
        let process = try DriverProcess(program: "QoSWorkloadTestDriver", [kind])
        await process.printed("ready=yes")
        process.send(signal)
        await process.printed("asked=yes")
        return process
    }

    @Test(
        "a second signal ends a process with a host at once",
        arguments: [(SIGTERM, SIGTERM), (SIGTERM, SIGINT), (SIGINT, SIGINT), (SIGINT, SIGTERM)])
    func process(first: Int32, second: Int32) async throws {
        let process = try await asked("process", first)
        process.send(second)
        let ending = await process.ending()
        #expect(ending.status == 128 + second && !ending.wasKilledBySignal)
        #expect(ending.errors.isEmpty)
    }

    @Test("the cancellation signal of a group ends a service during its shutdown at once, and gives the lease back")
    func group() async throws {
        let process = try await asked("group", SIGTERM)
        process.send(SIGINT)
        let ending = await process.ending()
        #expect(ending.status == 0 && !ending.wasKilledBySignal)
        #expect(ending.findings["leases"] == "0")
    }

    @Test(
        "the recipe: a signal to the process shuts its group down in order, and the body goes on to its end",
        arguments: [SIGTERM, SIGINT])
    func recipe(_ signal: Int32) async throws {
        let process = try DriverProcess(program: "QoSWorkloadTestDriver", ["recipe"])
        await process.printed("ready=yes")
        process.send(signal)
        let ending = await process.ending()
        #expect(ending.status == 0 && !ending.wasKilledBySignal && ending.errors.isEmpty, "\(ending)")
        #expect(
            ending.output.split(separator: "\n") == ["ready=yes", "asked=yes", "ended=yes", "cancelled=true"])
    }

    @Test("where a group and the process want the same signal, the group has it, and the body is not cancelled")
    func both() async throws {
        let process = try DriverProcess(program: "QoSWorkloadTestDriver", ["both"])
        await process.printed("ready=yes")
        process.send(SIGTERM)
        let ending = await process.ending()
        #expect(ending.status == 0 && !ending.wasKilledBySignal, "\(ending)")
        #expect(ending.findings["ended"] == "yes" && ending.findings["cancelled"] == "false")
    }
}
#endif
