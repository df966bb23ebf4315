import CQoSTestSupport
import Glibc
import QoSCore
import QoSEventLoop
import QoSKernel
import QoSProcessTestSupport
import QoSRuntimeTestSupport
import Testing

@testable import QoSRuntime

@Suite(
    "Threads and children of libraries", .tags(.process), .timeLimit(.minutes(5)),
    .enabled(if: LibraryThreads.report.obstacle != .sanitizer))
struct LibraryThreadTests {
    /// The code that makes them, and the number of its findings at least.
    private static let makers =
        QoSClass.allCases.flatMap { ["pool-\($0.abbreviation)", "preference-\($0.abbreviation)"] }
        + ["main-service", "main-interactive", "thread", "operation"]

    @Test(
        "made from any code of ours, in any way, have what the process had at its start",
        arguments: makers, ["privileged", "unprivileged"])
    func table(maker: String, rights: String) async throws {
        let ending = try await DriverProcess(program: "QoSProcessTestDriver", ["guests", maker, rights]).ending()
        #expect(ending.status == 0, "\(ending.errors)")
        var findings = ending.findings
        let thread = findings.removeValue(forKey: "maker")
        if let thread { #expect(thread.hasPrefix("qos-\(maker.suffix(2))-")) }
        #expect(findings.count >= 16, "\(findings)")
        for (way, found) in findings { #expect(found == "as at the start", "\(way)") }
    }

    /// The scheduling of a thread that the calling one makes.
    private static func scheduledThread() -> String {
        unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 512) { buffer in
            guard let start = buffer.baseAddress else { return "" }
            unsafe cqos_test_scheduling_of_pthread(start, buffer.count)
            return unsafe String(cString: start)
        }
    }

    @Test("of the loop, which is raised where that is allowed, have what another thread's have")
    func ofTheLoop() async throws {
        let scheduler = try QoSScheduler()
        let fromLoop = await withCheckedContinuation { continuation in
            do {
                try scheduler.core.loop.submit { continuation.resume(returning: Self.scheduledThread()) }
            } catch {
                continuation.resume(returning: "\(error)")
            }
        }
        // The signal mask is that of Dispatch's threads, which the calling one may not be.
        #expect(fromLoop.prefix { $0 != "m" } == Self.scheduledThread().prefix { $0 != "m" })
        #expect(fromLoop.hasSuffix("mask fffffffe3bfbea27"))
        try await scheduler.shutdown()
    }

    @Test("inherit where the environment says so, and threads with a level still do not")
    func switchedOff() async throws {
        let findings = try await DriverProcess(
            program: "QoSProcessTestDriver", ["guests", "pool-bg", "unprivileged", "inherit"]
        ).ending().findings
        #expect(findings["pthread"]?.contains("nice 19") == true, "\(findings)")
        #expect(findings["posix-spawn"]?.contains("nice 19") == true, "\(findings)")
        #expect(findings["qos-thread-missing"] == "as at the start")
        #expect(findings["scheduler-missing-in"] == "as at the start")
    }

    @Test(
        "while a thread of others is raised, go through the creator from that thread only",
        .enabled(if: LibraryThreads.report.obstacle == nil))
    func besideRaised() async throws {
        // It makes the creator.
        let scheduler = try QoSScheduler()
        try await scheduler.shutdown()
        #expect(Self.isHandedOver(whileRaised: nil) == 0)
        #expect(Self.isHandedOver(whileRaised: ThreadID(rawValue: 1)) == 0)
        #expect(Self.isHandedOver(whileRaised: .current) == 1)
        #expect(Self.isHandedOver(whileRaised: nil) == 0)
    }

    /// Whether the creator makes a thread for the calling one, while a thread is noted as raised.
    private static func isHandedOver(whileRaised thread: ThreadID?) -> Int32 {
        guard let thread else { return cqos_test_is_handed_over() }
        LibraryThreads.noteRaised(true, thread)
        defer { LibraryThreads.noteRaised(false, thread) }
        return cqos_test_is_handed_over()
    }
}
