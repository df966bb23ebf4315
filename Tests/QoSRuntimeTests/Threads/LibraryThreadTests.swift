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

    /// The name of a thread that the calling one makes: its maker's, or the program's if the creator made it.
    private static func nameOfMadeThread() -> String {
        final class Box { var name = "" }
        let box = Box()
        var thread = pthread_t()
        let code = unsafe pthread_create(
            &thread, nil,
            { argument in
                guard let argument = unsafe argument else { return nil }
                unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 16) { buffer in
                    guard let start = buffer.baseAddress, unsafe pthread_getname_np(pthread_self(), start, 16) == 0 else {
                        return
                    }
                    unsafe Unmanaged<Box>.fromOpaque(argument).takeUnretainedValue().name = String(cString: start)
                }
                return nil
            }, Unmanaged.passUnretained(box).toOpaque())
        guard code == 0 else { return "error \(code)" }
        unsafe pthread_join(thread, nil)
        return box.name
    }

    @Test("while another thread is raised, are made where they always were", .enabled(if: LibraryThreads.report.obstacle == nil))
    func besideRaised() async throws {
        // It makes the creator.
        let scheduler = try QoSScheduler()
        try await scheduler.shutdown()
        let names = await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                unsafe pthread_setname_np(pthread_self(), "a-maker")
                var names = [Self.nameOfMadeThread()]
                for thread in [ThreadID(rawValue: 1), .current] {
                    LibraryThreads.noteRaised(true, thread)
                    names.append(Self.nameOfMadeThread())
                    LibraryThreads.noteRaised(false, thread)
                }
                names.append(Self.nameOfMadeThread())
                continuation.resume(returning: names)
            }
        }
        #expect(names[0] == "a-maker")
        #expect(names[1] == "a-maker", "no other thread's raise matters")
        #expect(names[2] != "a-maker", "a raised thread's would keep the raise")
        #expect(names[3] == "a-maker")
    }
}
