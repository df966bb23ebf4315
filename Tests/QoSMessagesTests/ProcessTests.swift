import Glibc
import QoSFileTestSupport
import QoSKernelTestSupport
import QoSProcessTestSupport
import QoSRuntime
import QoSRuntimeTestSupport
import QoSTesting
import Testing

@testable import QoSMessages
@testable import QoSMessagesTestDriver

/// Processes of `QoSMessagesTestDriver`, with this one as a client.
@Suite("Messages between processes", .timeLimit(.minutes(5)), .serialized)
struct ProcessTests {
    private static func start(_ arguments: String...) throws -> DriverProcess {
        try DriverProcess(program: "QoSMessagesTestDriver", arguments)
    }

    /// Starts a service and waits until it listens.
    private static func serve(_ path: String, _ step: String...) async throws -> DriverProcess {
        let process = try DriverProcess(program: "QoSMessagesTestDriver", ["serve", path] + step)
        await process.printed("listening=true")
        return process
    }

    @Test("a request is answered by another process, which is the peer")
    func request() async throws {
        try await TemporaryFolder.with { folder in
            let server = try await Self.serve(folder["s"])
            let session = try await ServiceSession(to: folder["s"], on: nil)
            let reply = try await session.send(Echo(text: "hello"))
            #expect(reply.text == "hello" && reply.pid == session.peer.pid && reply.pid != getpid())
            #expect(try await session.send(Bytes(count: 1_000_000)).count == 1_000_000)
            try await session.send(Note(text: "one way"))
            await server.printed("note=one way")
            server.send(SIGTERM)
            let ending = await server.ending()
            #expect(ending.status == 0 && !ending.wasKilledBySignal, "\(ending)")
        }
    }

    @Test("M2 a raise goes over three processes: the waiting task, the relay's handler, the last handler")
    func chain() async throws {
        try await TemporaryFolder.with { folder in
            let last = try await Self.serve(folder["c"])
            let relay = try Self.start("relay", folder["b"], folder["c"])
            await relay.printed("listening=true")
            try await withScheduler { scheduler in
                let begun = Gate()
                var handlers = ServiceHandlers()
                handlers.on(HasBegun.self) { _, _ in begun.open() }
                let session = try await ServiceSession(to: folder["b"], handlers: handlers, on: scheduler)
                let (result, ended) = (Collected<[UInt8]>(), Gate())
                let task = scheduler.startDetachedTask(at: .utility) {
                    do { result.append(try await session.send(WaitForRaise())) } catch { Issue.record(error) }
                    ended.open()
                }
                await begun.passed()
                scheduler.raise(task, to: .userInitiated)
                await ended.passed()
                // Relay before, last handler before and after, relay after.
                #expect(result.all == [[17, 17, 25, 25]])
            }
            for process in [relay, last] {
                process.send(SIGTERM)
                #expect(await process.ending().status == 0)
            }
        }
    }

    @Test(
        "M4 a service that dies at a named step: the client gets its death, and keeps nothing",
        arguments: ServiceStep.allCases.filter { $0 != .handlerRaised })
    func serviceDies(step: ServiceStep) async throws {
        try await TemporaryFolder.with { folder in
            let server = try await Self.serve(folder["s"], step.rawValue)
            let client = try Self.start("client", folder["s"], "1000000")
            let findings = await client.ending().findings
            let death = "process \(findings["connected"] ?? "") has ended"
            switch step {
            case .accepted:
                #expect(findings["error"]?.hasPrefix("the service is unavailable") == true, "\(findings)")
                #expect(findings["begun"] == "false")
            case .replySent:
                // The reply may be in the socket, whole or in part.
                let isWhole = findings["bytes"] == "1000000"
                #expect(isWhole || findings["error"] == death, "\(findings)")
            default:
                #expect(findings["error"] == death, "\(findings)")
                #expect(findings["begun"] == "true")
            }
            #expect(findings["leaked"] == "0", "\(findings)")
            if findings["open"] != "none" {
                #expect(findings["open"] == "(own: 0, incoming: 0, running: 0)", "\(findings)")
            }
            server.send(SIGKILL)
            _ = await server.ending()
        }
    }

    @Test("M4 a service that dies when its handler is raised: the waiting task gets its death")
    func raisedServiceDies() async throws {
        try await TemporaryFolder.with { folder in
            let server = try await Self.serve(folder["s"], ServiceStep.handlerRaised.rawValue)
            try await withScheduler { scheduler in
                let begun = Gate()
                var handlers = ServiceHandlers()
                handlers.on(HasBegun.self) { _, _ in begun.open() }
                let session = try await ServiceSession(to: folder["s"], handlers: handlers, on: scheduler)
                let (errors, ended) = (Collected<ServiceError>(), Gate())
                let task = scheduler.startDetachedTask(at: .utility) {
                    do throws(ServiceError) {
                        _ = try await session.send(Hang())
                    } catch {
                        errors.append(error)
                    }
                    ended.open()
                }
                await begun.passed()
                scheduler.raise(task, to: .userInitiated)
                await ended.passed()
                let error = try #require(errors.all.first)
                #expect(error.reason == .peerDied(pid: session.peer.pid) && error.mayHaveBegun)
                #expect("\(session.open)" == "(own: 0, incoming: 0, running: 0)")
            }
            #expect(await server.ending().wasKilledBySignal)
        }
    }

    @Test("a named service: only its user reaches the socket, and one that was killed leaves no obstacle")
    func namedSocket() async throws {
        try await TemporaryFolder.with { folder in
            let serve = "XDG_RUNTIME_DIR='\(folder.path)' exec \"${0%/*}/QoSMessagesTestDriver\" serve org.example.t"
            for _ in 0..<2 {
                let server = try DriverProcess(script: serve)
                await server.printed("listening=true")
                var status = stat()
                #expect(unsafe lstat(folder["qos"], &status) == 0 && status.st_mode & 0o777 == 0o700)
                #expect(unsafe lstat(folder["qos/org.example.t.sock"], &status) == 0 && status.st_mode & 0o777 == 0o600)
                let second = try await DriverProcess(script: serve).ending()
                #expect(second.status == 1 && second.errors.contains("another process serves"), "\(second)")
                server.send(SIGKILL)
                #expect(await server.ending().wasKilledBySignal)
            }
            #expect(unsafe chmod(folder["qos"], 0o755) == 0)
            let open = try await DriverProcess(script: serve).ending()
            #expect(open.status == 1 && open.errors.contains("with the mode 0700"), "\(open)")
        }
    }

    @Test("M4 a client that dies within a request: the handler is cancelled, and the service keeps nothing")
    func clientDies() async throws {
        try await TemporaryFolder.with { folder in
            let server = try await Self.serve(folder["s"])
            for _ in 0..<5 {
                let client = try Self.start("hang", folder["s"])
                await client.printed("sent=true")
                client.send(SIGKILL)
                _ = await client.ending()
                await server.printed("cancelled=true")
            }
            // And it serves on.
            let session = try await ServiceSession(to: folder["s"], on: nil)
            #expect(try await session.send(Echo(text: "x")).text == "x")
            session.close()
            server.send(SIGTERM)
            #expect(await server.ending().findings["connections"] == "0")
        }
    }

    @Test(
        "M4 a service that is killed at a random moment: each of forty callers ends once, with the right error",
        arguments: 0..<12)
    func randomKills(seed: UInt64) async throws {
        try await TemporaryFolder.with { folder in
            var random = SeededGenerator(seed: seed)
            let server = try await Self.serve(folder["s"])
            let session = try await ServiceSession(to: folder["s"], on: nil)
            let answers = Int.random(in: 1...60, using: &random)
            let count = Tally()
            let endings = await withTaskGroup(of: ServiceError?.self) { group in
                for index in 0..<40 {
                    group.addTask {
                        do throws(ServiceError) {
                            while true {
                                _ = try await session.send(Bytes(count: index * 5_000))
                                if count.add() == answers { server.send(SIGKILL) }
                            }
                        } catch {
                            return error
                        }
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(endings.count == 40)
            for ending in endings {
                let isRight = ending?.reason == .peerDied(pid: session.peer.pid)
                #expect(isRight, "seed \(seed): \(String(describing: ending))")
            }
            #expect(session.open == (0, 0, 0))
            _ = await server.ending()
            // The name is free again.
            let next = try await Self.serve(folder["s"])
            next.send(SIGTERM)
            #expect(await next.ending().status == 0)
        }
    }

    @Test("M1 garbage of a peer closes its connection, and no other")
    func garbage() async throws {
        try await TemporaryFolder.with { folder in
            let server = try await Self.serve(folder["s"])
            let session = try await ServiceSession(to: folder["s"], on: nil)
            var random = SeededGenerator(seed: 1)
            for _ in 0..<20 {
                let (descriptor, _) = try ServiceSocket.connect(to: folder["s"])
                let bytes = (0..<4_096).map { _ in UInt8.random(in: 0...255, using: &random) }
                _ = unsafe send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
                close(descriptor)
                #expect(try await session.send(Echo(text: "x")).text == "x")
            }
            server.send(SIGTERM)
            #expect(await server.ending().status == 0)
        }
    }

    @Test("a socket of systemd's is used, by its name")
    func passedSocket() async throws {
        try await TemporaryFolder.with { folder in
            let script = """
                import os, socket, sys
                s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[2]); s.listen()
                t = socket.socket(socket.AF_UNIX); t.bind(sys.argv[2] + ".other"); t.listen()
                os.dup2(t.fileno(), 20); os.dup2(s.fileno(), 21); os.dup2(20, 3); os.dup2(21, 4)
                for fd in (3, 4): os.set_inheritable(fd, True)
                os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS="2", LISTEN_FDNAMES="other:org.example.s")
                os.execv(sys.argv[1], [sys.argv[1], "serve", "org.example.s"])
                """
            let driver = try #require(ProcessTests.driver)
            let process = try DriverProcess(program: "/usr/bin/python3", ["-c", script, driver, folder["s"]])
            await process.printed("listening=true")
            let session = try await ServiceSession(to: folder["s"], on: nil)
            #expect(try await session.send(Echo(text: "x")).text == "x")
            process.send(SIGTERM)
            #expect(await process.ending().status == 0)
        }
    }

    /// The path of the driver.
    static var driver: String? {
        guard let test = unsafe realpath("/proc/self/exe", nil) else { return nil }
        defer { unsafe free(test) }
        let path = unsafe String(cString: test)
        return path.lastIndex(of: "/").map { path[..<$0] + "/QoSMessagesTestDriver" }
    }
}
