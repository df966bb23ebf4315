import Foundation
import Glibc
import QoSKernel
import QoSProcessTestSupport
import Testing

@Suite("Signals and the end of the process", .tags(.process), .timeLimit(.minutes(5)))
struct QoSProcessSignalTests {
    /// Starts a program, and returns when the program is ready for signals.
    private func ready(_ arguments: String...) async throws -> DriverProcess {
        let process =
            arguments.count > 1 ? try DriverProcess(arguments[0], arguments[1]) : try DriverProcess(arguments[0])
        await process.printed("ready=yes")
        return process
    }

    @Test("a signal cancels the body; that it was cancelled is then the status", arguments: [SIGINT, SIGTERM])
    func cancelled(_ signal: Int32) async throws {
        let process = try await ready("waits-for-signal")
        process.send(signal)
        let ending = await process.ending()
        #expect(ending == .init(status: 128 + signal, wasKilledBySignal: false, output: "ready=yes\n", errors: ""))
    }

    @Test("a body that ends well after a signal ends the process well", arguments: [SIGINT, SIGTERM])
    func cleanedUp(_ signal: Int32) async throws {
        let process = try await ready("cleans-up-after-signal")
        process.send(signal)
        let ending = await process.ending()
        #expect(ending.status == 0)
        #expect(ending.findings["cancelled"] == "true")
    }

    @Test("M3 a signal ends the clamp, so a body ends in order though background is stopped")
    func clamped() async throws {
        let process = try await ready("clamped-until-signal")
        process.send(SIGTERM)
        let ending = await process.ending()
        #expect(ending.status == 0 && ending.errors.isEmpty)
        #expect(ending.findings["clamped"] == "false")
    }

    @Test("a second signal ends the process at once", arguments: [SIGINT, SIGTERM])
    func second(_ signal: Int32) async throws {
        let process = try await ready("ignores-signals")
        process.send(signal)
        await process.printed("cancelled=yes")
        process.send(SIGINT)
        let ending = await process.ending()
        #expect(ending.status == 128 + SIGINT)
        #expect(!ending.wasKilledBySignal)
        #expect(ending.errors.isEmpty)
    }

    @Test("a body that does not end has its grace, and then the process ends and says so")
    func grace() async throws {
        let process = try await ready("ignores-signals", "50")
        process.send(SIGTERM)
        let ending = await process.ending()
        #expect(ending.status == 128 + SIGTERM)
        #expect(ending.errors.contains("did not end in time after a signal"))
    }

    @Test("a signal comes through while the main actor is busy")
    func busyMainActor() async throws {
        let process = try await ready("signal-while-main-actor-is-busy")
        process.send(SIGTERM)
        let ending = await process.ending()
        #expect(ending.status == 128 + SIGTERM)
        #expect(!ending.wasKilledBySignal)
    }

    @Test("a program that was started with all signals blocked hears them too")
    func blocked() async throws {
        let process = try await ready("blocked-signals")
        process.send(SIGTERM)
        let ending = await process.ending()
        #expect(ending.status == 128 + SIGTERM)
        #expect(!ending.wasKilledBySignal)
    }

    @Test("signals that are left alone do what they do elsewhere")
    func leftAlone() async throws {
        let process = try await ready("leaves-signals-alone")
        process.send(SIGTERM)
        let ending = await process.ending()
        #expect(ending.status == SIGTERM)
        #expect(ending.wasKilledBySignal)
    }

    @Test("a program is ready for signals when its body begins: none is lost, however early it comes")
    func early() async throws {
        for _ in 0..<20 {
            let process = try await ready("waits-for-signal")
            process.send(SIGTERM)
            let ending = await process.ending()
            #expect(ending.status == 128 + SIGTERM)
            #expect(!ending.wasKilledBySignal)
        }
    }

    // One in twenty came before the task of the body was known to whoever cancels it.
    @Test("a signal that comes before the body's first statement is over cancels it")
    func atOnce() async throws {
        for _ in 0..<100 {
            let ending = try await DriverProcess("signals-itself-at-once").ending()
            #expect(ending == .init(status: 128 + SIGTERM, wasKilledBySignal: false, output: "", errors: ""))
        }
    }

    @Test("a signal that is ignored at the start stays ignored; the others are handled")
    func ignored() async throws {
        let ending = try await DriverProcess(script: "trap '' INT; exec \"$0\" ignored-at-start").ending()
        #expect(ending.status == 0, "\(ending)")
        #expect(ending.findings == ["int": "ignored", "term": "handled", "cancelled": "false"])
    }

    @Test("a loop that prints on a worker ends with its reader, by SIGPIPE")
    func printsIntoHead() async throws {
        let script = "\"$0\" prints-forever | head -n 1 > /dev/null; echo status=${PIPESTATUS[0]}"
        let ending = try await DriverProcess(script: script).ending()
        #expect(ending.findings == ["status": "\(128 + SIGPIPE)"], "\(ending)")
    }

    @Test("a profiler's SIGPROF hits the worker that computes")
    func profiled() async throws {
        let ending = try await DriverProcess("is-profiled").ending()
        #expect(ending.status == 0, "\(ending)")
        #expect(ending.findings["own"].flatMap { Int($0) } ?? 0 >= 20, "\(ending)")
    }

    @Test("a crash report has the stacks of all threads", .enabled(if: Backtracer.isInstalled), .timeLimit(.minutes(5)))
    func crashReport() async throws {
        let settings = "preset=full,enable=yes,symbolicate=off,interactive=no,color=no,cache=no"
        var ending: DriverProcess.Ending
        var attempts = 0
        repeat {
            ending = try await DriverProcess(script: "SWIFT_BACKTRACE=\(settings) exec \"$0\" crashes").ending()
            #expect(ending.wasKilledBySignal, "\(ending)")
            attempts += 1
            // Swift waits two seconds for a thread to stop. On a busy machine a thread of background may not run for as
            // long; a thread that blocks the signal stops in no attempt.
        } while ending.errors.contains("failed to suspend") && attempts < 5
        #expect(!ending.errors.contains("failed to suspend"), "\(ending.errors)")
        for name in ["qos-loop", "qos-ui-0", "qos-in-0", "qos-df-0", "qos-ut-0", "qos-bg-0"] {
            #expect(ending.errors.contains("\"\(name)\""), "\(name) is missing in \(ending.errors)")
        }
    }

    /// The program that writes Swift's crash reports.
    private enum Backtracer {
        /// Whether it lies where the runtime looks for it, seen from the loaded library.
        static var isInstalled: Bool {
            let maps = (try? KernelFile.read("/proc/self/maps")) ?? ""
            guard let line = maps.split(separator: "\n").first(where: { $0.hasSuffix("/libswiftCore.so") }),
                let path = line.split(separator: " ").last
            else { return false }
            let root = URL(fileURLWithPath: String(path)).deletingLastPathComponent().deletingLastPathComponent()
                .deletingLastPathComponent().deletingLastPathComponent()
            return FileManager.default.isExecutableFile(
                atPath: root.appendingPathComponent("libexec/swift/linux/swift-backtrace").path)
        }
    }
}
