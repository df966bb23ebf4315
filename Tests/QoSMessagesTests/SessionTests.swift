import QoSCore
import QoSFileTestSupport
import QoSKernel
import QoSKernelTestSupport
import QoSRuntime
import QoSRuntimeTestSupport
import ServiceContextModule
import Testing

@testable import QoSMessages
@testable import QoSMessagesTestDriver

/// The ways to a service within one process.
enum Way: CaseIterable, Sendable {
    case inProcess, socket

    /// Runs a body with a session of a service, and ends both.
    func with(
        _ service: Service, handlers: ServiceHandlers = ServiceHandlers(), propagators: [ServicePropagator] = [],
        on scheduler: QoSScheduler? = nil, _ body: (ServiceSession) async throws -> Void
    ) async throws {
        switch self {
        case .inProcess: try await body(try await service.makeSession(handlers: handlers))
        case .socket:
            let listening = Gate()
            let run = Task { try await service.run { listening.open() } }
            await listening.passed()
            let result: Result<Void, any Error>
            do {
                let session = try await ServiceSession(
                    to: service.name, handlers: handlers, propagators: propagators, on: scheduler)
                result = .success(try await body(session))
            } catch {
                result = .failure(error)
            }
            run.cancel()
            try await run.value
            try result.get()
        }
    }
}

@Suite("Sessions: requests within one process, by pipe and by socket", .timeLimit(.minutes(2)))
struct SessionTests {
    private static func error(_ body: () async throws -> Void) async -> ServiceError? {
        do {
            try await body()
            return nil
        } catch {
            return error as? ServiceError
        }
    }

    @Test("a service at the path of a file is refused, and the file stays")
    func pathOfFile() async throws {
        try await TemporaryFolder.with { folder in
            try folder.write("letter", "precious")
            let error = await Self.error { try await makeService(folder["letter"], on: nil).run() }
            guard case .serviceUnavailable(let reason) = error?.reason else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(reason.contains("is no socket"))
            #expect(try folder.read("letter") == "precious")
        }
    }

    @Test("M1 a request, a large one, a failure and an unknown type", arguments: Way.allCases)
    func requests(way: Way) async throws {
        try await TemporaryFolder.with { folder in
            let service = makeService(folder.path + "/s", on: nil)
            service.on(Note.self) { _, _ in }
            try await way.with(service) { session in
                #expect(try await session.send(Echo(text: "x")).text == "x")
                #expect(try await session.send(Bytes(count: 900_000)).count == 900_000)
                try await session.send(Note(text: "y"))
                #expect(
                    await Self.error { _ = try await session.send(Fail(code: 5)) }
                        == ServiceError(.remote(code: 5, "as asked"), mayHaveBegun: true))
                #expect(
                    await Self.error { _ = try await session.send(Bytes(count: 2_000_000)) }
                        == ServiceError(.tooLarge, mayHaveBegun: true))
                struct Unknown: ServiceMessage {}
                #expect(
                    await Self.error { try await session.send(Unknown()) }
                        == ServiceError(.unknownRequest("Unknown"), mayHaveBegun: false))
                struct Large: ServiceMessage {
                    static var serviceName: String { "Note" }
                    var text = String(repeating: "x", count: 1_100_000)
                }
                #expect(
                    await Self.error { try await session.send(Large()) }
                        == ServiceError(.tooLarge, mayHaveBegun: false))
                #expect(session.open == (0, 0, 0))
            }
        }
    }

    @Test("many requests at a time, each with its own reply", arguments: Way.allCases)
    func many(way: Way) async throws {
        try await TemporaryFolder.with { folder in
            try await way.with(makeService(folder.path + "/s", on: nil)) { session in
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for index in 0..<500 {
                        group.addTask {
                            let text = try await session.send(Echo(text: "\(index)")).text
                            #expect(text == "\(index)")
                        }
                    }
                    try await group.waitForAll()
                }
                #expect(session.open == (0, 0, 0))
            }
        }
    }

    @Test("M1 cancellation and timeout end the wait at once, and cancel the handler", arguments: Way.allCases)
    func ends(way: Way) async throws {
        try await TemporaryFolder.with { folder in
            let (begun, cancelled) = (Collected<Int>(), Collected<Int>())
            let (firstBegan, bothEnded) = (Gate(), Gate())
            let service = Service(folder.path + "/s", on: nil)
            service.on(Hang.self) { _, _ in
                begun.append(1)
                firstBegan.open()
                let gate = Gate()
                await withTaskCancellationHandler {
                    await gate.passed()
                } onCancel: {
                    gate.open()
                }
                cancelled.append(1)
                if cancelled.all.count == 2 { bothEnded.open() }
                return true
            }
            try await way.with(service) { session in
                let task = Task { await Self.error { _ = try await session.send(Hang()) } }
                await firstBegan.passed()
                task.cancel()
                #expect(await task.value == ServiceError(.cancelled, mayHaveBegun: true))
                let late = await Self.error { _ = try await session.send(Hang(), timeout: .milliseconds(20)) }
                #expect(late?.reason == .timedOut)
                let already = await Self.error { _ = try await session.send(Hang(), timeout: .zero) }
                #expect(already == ServiceError(.timedOut, mayHaveBegun: false))
                if late?.mayHaveBegun == true, begun.all.count == 2 { await bothEnded.passed() }
            }
        }
    }

    @Test("M2 B6 the handler runs at the sender's level, up to the peer's ceiling", arguments: Way.allCases)
    func levels(way: Way) async throws {
        try await TemporaryFolder.with { folder in
            try await withScheduler { scheduler in
                try await way.with(makeService(folder.path + "/s", on: scheduler)) { session in
                    for qosClass in QoSClass.allCases {
                        let task = scheduler.startTask(at: qosClass) {
                            try await session.send(Echo(text: ""), timeout: .seconds(60))
                        }
                        let reply = try await task.value
                        // The waiting test may raise the sender before it has sent (rule B6).
                        #expect(reply.level >= min(qosClass, .userInitiated).rawValue)
                        #expect(reply.level <= QoSClass.userInitiated.rawValue)
                        #expect(reply.deadlineIsSet)
                    }
                }
                let limited = makeService(folder.path + "/l", allow: .sameUser(upTo: .utility), on: scheduler)
                try await way.with(limited) { session in
                    let task = scheduler.startTask(at: .userInitiated) { try await session.send(Echo(text: "")) }
                    let level = try await task.value.level
                    #expect(level == QoSClass.utility.rawValue)
                }
            }
        }
    }

    @Test("M2 a raise of the waiting task raises the running handler", arguments: Way.allCases)
    func raisesRunning(way: Way) async throws {
        try await TemporaryFolder.with { folder in
            try await withScheduler { scheduler in
                let begun = Gate()
                var handlers = ServiceHandlers()
                handlers.on(HasBegun.self) { _, _ in begun.open() }
                try await way.with(makeService(folder.path + "/s", on: scheduler), handlers: handlers) { session in
                    let result = Collected<[UInt8]>()
                    let ended = Gate()
                    let task = scheduler.startDetachedTask(at: .utility) {
                        if let levels = try? await session.send(WaitForRaise()) { result.append(levels) }
                        ended.open()
                    }
                    await begun.passed()
                    scheduler.raise(task, to: .userInitiated)
                    // Not `await task.value`: that would raise it, too.
                    await ended.passed()
                    #expect(result.all == [[QoSClass.utility.rawValue, QoSClass.userInitiated.rawValue]])
                }
            }
        }
    }

    @Test("M2 a raise moves a handler that is queued behind a busy pool", arguments: Way.allCases)
    func raisesQueued(way: Way) async throws {
        try await TemporaryFolder.with { folder in
            try await withScheduler(.init(processors: 1, appliesKernelEffects: false, detectsBlocking: false)) {
                server in
                try await withScheduler { scheduler in
                    let (isBusy, isFree) = (Gate(), Gate())
                    server.startDetachedTask(at: .utility) {
                        isBusy.open()
                        block(isFree)
                    }
                    await isBusy.passed()
                    let service = makeService(folder.path + "/s", on: server)
                    try await way.with(service) { session in
                        let result = Collected<UInt8>()
                        let ended = Gate()
                        let task = scheduler.startDetachedTask(at: .utility) {
                            if let reply = try? await session.send(Echo(text: "")) { result.append(reply.level) }
                            ended.open()
                        }
                        // Another request, higher, is served although the pool is busy.
                        let other = scheduler.startDetachedTask(at: .userInitiated) {
                            try await session.send(Echo(text: "")).level
                        }
                        let level = try await other.value
                        #expect(level == QoSClass.userInitiated.rawValue)
                        scheduler.raise(task, to: .userInitiated)
                        await ended.passed()
                        #expect(!isFree.isOpen)
                        #expect(result.all == [QoSClass.userInitiated.rawValue])
                        isFree.open()
                    }
                }
            }
        }
    }

    private struct TenantKey: ServiceContextKey { typealias Value = String }

    @Test("X1 X2 service context, activity and deadline arrive, and nested requests keep the deadline")
    func context() async throws {
        try await TemporaryFolder.with { folder in
            let propagator = ServicePropagator { context, fields in
                fields["tenant"] = context[TenantKey.self]
            } extract: { fields, context in
                context[TenantKey.self] = fields["tenant"]
            }
            let inner = makeService(folder.path + "/inner", on: nil)
            let session = try await inner.makeSession()
            let service = Service(folder.path + "/s", propagators: [propagator], on: nil)
            struct Ask: ServiceRequest {
                typealias Reply = [String]
            }
            service.on(Ask.self) { _, call in
                let nested = try await session.send(Echo(text: ""))
                return [
                    ServiceContext.current?[TenantKey.self] ?? "", call.activity?.reason ?? "",
                    "\(nested.deadlineIsSet)", QoS.activity?.reason ?? "",
                    QoS.activity?.originator.map {
                        "\($0.activity == call.activity?.id && $0.process == call.peer.pid)"
                    } ?? "",
                ]
            }
            let outer = try await service.makeSession()
            var context = ServiceContext.topLevel
            context[TenantKey.self] = "t1"
            let reply = try await ServiceContext.withValue(context) {
                try await QoS.performActivity([], reason: "test") {
                    try await outer.send(Ask(), timeout: .seconds(60))
                }
            }
            #expect(reply == ["t1", "test", "true", "test", "true"])
            #expect(try await outer.send(Ask()) == ["", "", "false", "", ""])
        }
    }

    @Test("both sides end cleanly when the service stops within a request", arguments: 0..<10)
    func stops(seed: Int) async throws {
        try await TemporaryFolder.with { folder in
            let service = makeService(folder.path + "/s", on: nil)
            let begun = Gate()
            var handlers = ServiceHandlers()
            handlers.on(HasBegun.self) { _, _ in begun.open() }
            var waiter: Task<ServiceError?, Never>?
            try await Way.socket.with(service, handlers: handlers) { session in
                waiter = Task { await Self.error { _ = try await session.send(Hang()) } }
                await begun.passed()
            }
            #expect(
                await waiter?.value == ServiceError(.connectionLost("the peer has closed it"), mayHaveBegun: true))
            #expect(service.connectionCount == 0)
        }
    }

    /// A request whose handler does not end when it is cancelled.
    private struct Stubborn: ServiceRequest {
        typealias Reply = Bool
    }

    private struct Ping: ServiceRequest {
        typealias Reply = Bool
    }

    @Test("a connection counts until its handlers have ended, and a service waits for them")
    func stubbornHandler() async throws {
        try await TemporaryFolder.with { folder in
            let service = Service(folder["s"], on: nil)
            let (begun, release, listening) = (Gate(), Gate(), Gate())
            service.on(Stubborn.self) { _, _ in
                begun.open()
                await Task.detached { await release.passed() }.value
                return true
            }
            service.on(Ping.self) { _, _ in true }
            let run = Task { try await service.run { listening.open() } }
            await listening.passed()
            let session = try await ServiceSession(to: folder["s"], on: nil)
            let caller = Task { try? await session.send(Stubborn()) }
            await begun.passed()
            session.close()
            #expect(await caller.value == nil)
            // After this answer, the service has seen the end of the first connection.
            let second = try await ServiceSession(to: folder["s"], on: nil)
            #expect(try await second.send(Ping()))
            #expect(service.connectionCount == 2)
            second.close()
            run.cancel()
            release.open()
            try await run.value
            #expect(service.connectionCount == 0)
        }
    }

    @Test("the earlier of two alarms stays, whichever thread comes last")
    func alarms() async throws {
        final class Owner: Sendable {}
        let (loop, owner, rung) = (try #require(MessageLoop.shared), Owner(), Gate())
        let now = MonotonicClock.nanoseconds()
        loop.setAlarm(for: owner, at: now + 20_000_000) { _ in rung.open() }
        loop.setAlarm(for: owner, at: now + 3_600_000_000_000) { _ in }
        await rung.passed()
    }

    @Test("a second service of a name, a peer that is not allowed, and too many connections are refused")
    func refusals() async throws {
        try await TemporaryFolder.with { folder in
            var limits = ServiceLimits()
            limits.connectionsPerUser = 2
            let service = Service(folder.path + "/s", limits: limits, on: nil)
            try await Way.socket.with(service) { session in
                let second = await Self.error { try await Service(folder.path + "/s", on: nil).run() }
                #expect(
                    second?.reason == .serviceUnavailable("another process serves \(folder.path)/s"))
                let other = try await ServiceSession(to: folder.path + "/s", on: nil)
                let third = await Self.error { _ = try await ServiceSession(to: folder.path + "/s", on: nil) }
                #expect(third?.reason == .refused("too many connections, or the service ends"))
                withExtendedLifetime((session, other)) {}
            }
            let stranger = Service(folder.path + "/n", allow: .user(ServiceSocket.ownUser + 1), on: nil)
            let refused = await Self.error { try await Way.socket.with(stranger) { _ in } }
            #expect(refused?.reason == .refused("user \(ServiceSocket.ownUser) is not allowed"))
            let nobody = await Self.error { _ = try await ServiceSession(to: folder.path + "/nobody", on: nil) }
            #expect(nobody?.mayHaveBegun == false)
        }
    }
}

/// Keeps the calling worker.
private func block(_ gate: Gate) { gate.blockThread() }

extension TemporaryFolder {
    /// Runs a body with a new folder of a short path.
    static func with<Success>(_ body: (TemporaryFolder) async throws -> Success) async throws -> Success {
        let folder = try TemporaryFolder("m")
        defer { withExtendedLifetime(folder) {} }
        return try await body(folder)
    }
}
