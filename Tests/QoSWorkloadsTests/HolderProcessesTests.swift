import Foundation
import Glibc
import QoSKernel
import QoSRuntime
import QoSWorkloads
import Testing

@Suite("Processes of this machine that hold leases")
struct HolderProcessesTests {
    private func child() throws -> (Process, String) {
        let child = Process()
        child.executableURL = URL(fileURLWithPath: "/bin/sleep")
        child.arguments = ["1000"]
        try child.run()
        let identity = try #require(ProcessReader().identity(of: child.processIdentifier))
        return (child, identity.description)
    }

    @Test("the end of a process that is killed is known, while others wait for it")
    func watched() async throws {
        let scheduler = try QoSScheduler()
        let holders = SystemHolderProcesses(scheduler)
        let (child, process) = try child()
        #expect(!holders.isGone(process))
        async let first = holders.waitUntilEnded(process)
        async let second = holders.waitUntilEnded(process)
        kill(child.processIdentifier, SIGKILL)
        #expect(await [first, second] == [true, true])
        #expect(await holders.waitUntilEnded(process))
        #expect(holders.isGone(process))
        try await scheduler.shutdown()
    }

    @Test("a wait for a process that lives ends with its task")
    func cancelled() async throws {
        let scheduler = try QoSScheduler()
        let holders = SystemHolderProcesses(scheduler)
        let own = try #require(holders.current)
        let wait = Task { await holders.waitUntilEnded(own) }
        wait.cancel()
        #expect(await !wait.value)
        try await scheduler.shutdown()
    }

    @Test("nobody waits for a process that cannot be watched", arguments: ["", "dead", "linux:elsewhere:1:2:3:4"])
    func unknown(process: String) async throws {
        let scheduler = try QoSScheduler()
        let holders = SystemHolderProcesses(scheduler)
        #expect(!holders.isGone(process))
        #expect(await !holders.waitUntilEnded(process))
        // A host without an event loop only looks.
        let own = try #require(holders.current)
        #expect(await !SystemHolderProcesses(nil).waitUntilEnded(own))
        try await scheduler.shutdown()
    }
}
