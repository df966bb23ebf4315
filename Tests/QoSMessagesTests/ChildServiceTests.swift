import Glibc
import QoSFileTestSupport
import QoSKernel
import QoSKernelTestSupport
import QoSProcessTestSupport
import QoSRuntime
import QoSRuntimeTestSupport
import Testing

@testable import QoSMessages
@testable import QoSMessagesTestDriver

@Suite("The pauses of a child that fails")
struct ChildBackOffTests {
    private static let ms: UInt64 = 1_000_000

    @Test("M4 the first failure has no pause, the second one 100 ms, then twice as much, up to 30 s")
    func row() {
        var backOff = ChildBackOff()
        var (now, pauses) = (UInt64(5), [UInt64]())
        #expect(backOff.pause(now: now) == 0)
        for _ in 0..<200 {
            backOff.begin(now: now)
            now += 3 * Self.ms
            backOff.end(isFailure: true, now: now)
            let pause = backOff.pause(now: now)
            pauses.append(pause)
            #expect(backOff.pause(now: now + pause) == 0)
            if pause > 0 { #expect(backOff.pause(now: now + pause - 1) == 1) }
            now += pause
        }
        #expect(
            pauses.prefix(12).map { $0 / Self.ms }
                == [0, 100, 200, 400, 800, 1_600, 3_200, 6_400, 12_800, 25_600, 30_000, 30_000])
        #expect(pauses.dropFirst(10).allSatisfy { $0 == 30_000 * Self.ms })
    }

    @Test("M4 a life of a minute ends the row, a shorter one does not", arguments: [(59_999, 400), (60_000, 0)])
    func life(milliseconds: UInt64, expected: UInt64) {
        var backOff = ChildBackOff()
        for _ in 0..<3 { backOff.end(isFailure: true, now: 0) }
        backOff.begin(now: 1_000 * Self.ms)
        let end = (1_000 + milliseconds) * Self.ms
        backOff.end(isFailure: true, now: end)
        #expect(backOff.pause(now: end) == expected * Self.ms)
    }

    @Test("M4 an end in order has no pause, and does not end the row")
    func order() {
        var backOff = ChildBackOff()
        for _ in 0..<3 { backOff.end(isFailure: true, now: 0) }
        backOff.end(isFailure: false, now: 1)
        #expect(backOff.pause(now: 1) == 0 && backOff.failures == 3)
        backOff.end(isFailure: true, now: 2)
        #expect(backOff.pause(now: 2) == 400 * Self.ms)
    }

    @Test("M4 the end of time is no trap")
    func extremes() {
        var backOff = ChildBackOff()
        backOff.begin(now: .max)
        backOff.end(isFailure: true, now: 3)
        backOff.end(isFailure: true, now: .max)
        #expect(backOff.pause(now: .max) == 0 && backOff.pause(now: 0) == .max)
    }
}

/// Children of this process, which run `QoSMessagesTestDriver`.
@Suite("A service in a child process", .timeLimit(.minutes(5)), .serialized)
struct ChildServiceTests {
    /// A clock for the pauses.
    private final class Clock: Sendable {
        private let time = Lock<UInt64>(1)

        var now: UInt64 { time.withLock { $0 } }

        func advance(milliseconds: UInt64) { time.withLock { $0 += milliseconds * 1_000_000 } }
    }

    private static let noHandlers = Connection.Settings(
        handlers: ServiceHandlers(), limits: ServiceLimits(), propagators: [], scheduler: nil)

    private static func child(_ kind: String, handlers: ServiceHandlers = ServiceHandlers()) throws -> ChildService {
        ChildService(try #require(ProcessTests.driver), ["child", kind], handlers: handlers, on: nil)
    }

    private static func error(_ body: () async throws -> Void) async -> ServiceError? {
        do {
            try await body()
            return nil
        } catch {
            return error as? ServiceError
        }
    }

    /// The text of a refused start.
    private static func refusal(of child: ChildService) async -> String {
        let error = await Self.error { _ = try await child.session() }
        guard case .serviceUnavailable(let text) = error?.reason, error?.mayHaveBegun == false else {
            return "no refusal: \(String(describing: error))"
        }
        return text
    }

    /// Waits until a process has ended, as a zombie of another process too.
    private static func waitUntilGone(_ pid: Int32) async {
        while ProcessReader().identity(of: pid) != nil { await Task.yield() }
    }

    private static func isGone(_ pid: Int32) -> Bool { kill(pid, 0) == -1 && errno == ESRCH }

    @Test("the first request starts the child, and all callers share it, in both directions")
    func startsOnce() async throws {
        let begun = Gate()
        var handlers = ServiceHandlers()
        handlers.on(HasBegun.self) { _, _ in begun.open() }
        let child = try Self.child("serve", handlers: handlers)
        #expect(child.pid == nil && child.history.starts == 0)
        let pids = try await withThrowingTaskGroup(of: Int32.self) { group in
            for _ in 0..<10 { group.addTask { try await child.send(Echo(text: "x")).pid } }
            return try await group.reduce(into: Set()) { $0.insert($1) }
        }
        let session = try await child.session()
        #expect(pids == [session.peer.pid] && child.pid == session.peer.pid && child.history.starts == 1)
        #expect(session.peer.pid != getpid() && session.peer.user == geteuid())
        #expect(try await child.send(Bytes(count: 1_000_000)).count == 1_000_000)
        let hanging = Task { try await child.send(Hang()) }
        await begun.passed()
        hanging.cancel()
        #expect(await Self.error { _ = try await hanging.value }?.reason == .cancelled)
        await child.terminate()
    }

    @Test("M4 a child that crashes in a request: its requests end with its death, and the next one has a new child")
    func crash() async throws {
        let begun = Gate()
        var handlers = ServiceHandlers()
        handlers.on(HasBegun.self) { _, _ in begun.open() }
        let child = try Self.child("serve", handlers: handlers)
        let session = try await child.session()
        let other = Task { try await child.send(Hang()) }
        await begun.passed()
        let expected = ServiceError(.peerDied(pid: session.peer.pid), mayHaveBegun: true)
        #expect(await Self.error { _ = try await child.send(Crash()) } == expected)
        #expect(await Self.error { _ = try await other.value } == expected)
        #expect("\(session.open)" == "(own: 0, incoming: 0, running: 0)")
        let reply = try await child.send(Echo(text: "x"))
        #expect(reply.pid != session.peer.pid && reply.pid == child.pid && child.history.starts == 2)
        #expect(child.history.lastEnd == "was ended by signal 9")
        #expect(Self.isGone(session.peer.pid))
        await child.terminate()
    }

    @Test("M4 a child whose own child keeps the socket: its requests end with its death all the same")
    func grandchild() async throws {
        try await TemporaryFolder.with { folder in
            let script = "sleep 1000 & echo $! > \"$1\"; exec \"$0\" child serve"
            let child = ChildService(
                "/bin/sh", ["-c", script, try #require(ProcessTests.driver), folder["pid"]], on: nil)
            let session = try await child.session()
            let error = await Self.error { _ = try await child.send(Crash()) }
            let pid = try #require(Int32(try folder.read("pid").prefix { $0 != "\n" }))
            #expect(error == ServiceError(.peerDied(pid: session.peer.pid), mayHaveBegun: true))
            #expect(kill(pid, SIGKILL) == 0)
        }
    }

    @Test("M4 a child that fails in a loop: requests are refused during the pauses, and start nothing")
    func crashLoop() async throws {
        let clock = Clock()
        let child = ChildService(
            try #require(ProcessTests.driver), ["child", "exit"], settings: Self.noHandlers, now: { clock.now })
        for start in 1...2 {
            #expect(await Self.refusal(of: child).contains("does not serve"))
            #expect(child.history.starts == start && child.history.lastEnd == "ended with status 3")
        }
        for (failures, pause) in [(2, 100), (3, 200), (4, 400)] as [(Int, UInt64)] {
            for _ in 0..<100 {
                let text = await Self.refusal(of: child)
                #expect(text.contains("failed \(failures) times in a row, and last it ended with status 3"))
                #expect(text.contains("in \(pause) ms"))
            }
            clock.advance(milliseconds: pause - 1)
            #expect(await Self.refusal(of: child).contains("in 1 ms"))
            #expect(child.history.starts == failures)
            clock.advance(milliseconds: 1)
            #expect(await Self.refusal(of: child).contains("does not serve"))
            #expect(child.history.starts == failures + 1)
        }
        #expect(child.pid == nil)
    }

    @Test("a program that is missing, or never serves, is an error with a reason, and ends")
    func noService() async throws {
        let clock = Clock()
        let missing = ChildService("/does/not/exist", [], settings: Self.noHandlers, now: { clock.now })
        for _ in 0..<2 { #expect(await Self.refusal(of: missing).contains("posix_spawn failed for /does/not/exist")) }
        #expect(await Self.refusal(of: missing).contains("last it could not be started"))
        let unclear = ChildService("/bin/true", ["a\0b"], settings: Self.noHandlers, now: { clock.now })
        #expect(await Self.refusal(of: unclear).contains("EINVAL"))

        var settings = Self.noHandlers
        settings.patience.hello = 10_000_000
        let deaf = ChildService("/bin/sleep", ["1000"], settings: settings, now: { clock.now })
        #expect(await Self.refusal(of: deaf).contains("the peer does not answer"))
        #expect(deaf.history.lastEnd.hasPrefix("was ended by signal"))
    }

    @Test("the end of a child: SIGTERM, SIGKILL after the grace, and no pause for the next one")
    func terminate() async throws {
        let child = try Self.child("stubborn")
        await child.terminate()
        #expect(child.history.starts == 0)
        for round in 1...3 {
            let session = try await child.session()
            await child.terminate(grace: .milliseconds(10))
            #expect(Self.isGone(session.peer.pid) && child.pid == nil)
            #expect(child.history.starts == round && child.history.lastEnd == "was ended by signal 9")
        }
        let gentle = try Self.child("serve")
        let session = try await gentle.session()
        await gentle.terminate(grace: .seconds(600))
        #expect(Self.isGone(session.peer.pid) && gentle.history.lastEnd != "was ended by signal 9")
        #expect(await Self.error { _ = try await session.send(Echo(text: "x")) }?.mayHaveBegun == false)
    }

    @Test("a child ends with its session, and with the last reference")
    func lastReference() async throws {
        let child = try Self.child("serve")
        let session = try await child.session()
        session.close()
        await Self.waitUntilGone(session.peer.pid)
        let second = try await child.send(Echo(text: "x")).pid
        #expect(second != session.peer.pid)
        await child.terminate()
        func dropped() async throws -> Int32 { try await Self.child("serve").send(Echo(text: "x")).pid }
        await Self.waitUntilGone(try await dropped())
    }

    @Test("a child ends with its parent, and an end leaves no process and no descriptor")
    func parents() async throws {
        let holder = try DriverProcess(program: "QoSMessagesTestDriver", ["parent", "hold"])
        let line = Collected<String>()
        await holder.printed {
            line.append($0)
            return $0.hasPrefix("child=")
        }
        let text = try #require(line.all.last)
        let pid = try #require(Int32(text.dropFirst("child=".count).prefix { $0 != "\n" }))
        holder.send(SIGKILL)
        _ = await holder.ending()
        await Self.waitUntilGone(pid)

        let once = await (try DriverProcess(program: "QoSMessagesTestDriver", ["parent", "once"])).ending()
        let findings = once.findings
        #expect(once.status == 0 && findings["error"] == nil, "\(once)")
        #expect(findings["crash"] == "process \(findings["child"] ?? "") has ended", "\(once)")
        #expect(findings["second"] != nil && findings["second"] != findings["child"], "\(once)")
        #expect(findings["leaked"] == "0" && findings["children"] == "none", "\(once)")
    }

    @Test(
        "a child of a background task has the process's scheduling and signals, and no descriptor of its parent",
        .enabled(if: LibraryThreads.report.obstacle == nil))
    func clean() async throws {
        let ending = await (try DriverProcess(program: "QoSMessagesTestDriver", ["parent", "clean"])).ending()
        let findings = ending.findings
        func ignored(_ name: String) -> UInt64? {
            // The C library lets children ignore its own signals, 32 and 33 (posix_spawn).
            UInt64(findings[name] ?? "", radix: 16).map { $0 & ~0x1_8000_0000 }
        }
        let sigusr2: UInt64 = 0x800
        #expect(findings["maker"]?.hasPrefix("qos-bg") == true, "\(ending)")
        #expect((Int32(findings["descriptor"] ?? "") ?? 0) > 3 && ignored("own-ignored") == sigusr2, "\(ending)")
        #expect(findings["child-scheduling"] == findings["own-scheduling"], "\(ending)")
        #expect(ignored("child-ignored") == 0 && findings["child-blocked"] == "0000000000000000", "\(ending)")
        #expect(findings["child-descriptors"] == "[0, 1, 2, 3]", "\(ending)")
    }

    @Test("M2 M3 level, raise and importance go to a child as over any connection")
    func importance() async throws {
        try await withScheduler { scheduler in
            let begun = Gate()
            var handlers = ServiceHandlers()
            handlers.on(HasBegun.self) { _, _ in begun.open() }
            let child = try Self.child("serve", handlers: handlers)
            let (result, ended) = (Collected<[UInt8]>(), Gate())
            let task = scheduler.startDetachedTask(at: .utility) {
                do { result.append(try await child.send(WaitForRaise())) } catch { Issue.record(error) }
                ended.open()
            }
            await begun.passed()
            scheduler.raise(task, to: .userInitiated)
            await ended.passed()
            #expect(result.all == [[17, 25]])
            await child.terminate()

            let clamped = try Self.child("clamped")
            let session = try await clamped.session()
            func state() async throws -> ClampState.Reply {
                try await scheduler.startDetachedTask(at: .background) { try await session.send(ClampState()) }.escaped
            }
            while try await !state().isClamped {}
            try await session.withImportance {
                let held = try await state()
                #expect(!held.isClamped && held.scopes == 1)
            }
            await clamped.terminate()
        }
    }
}
