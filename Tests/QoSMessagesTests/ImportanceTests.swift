import Glibc
import QoSCore
import QoSFileTestSupport
import QoSKernel
import QoSProcessTestSupport
import QoSRuntime
import QoSRuntimeTestSupport
import Testing

@testable import QoSMessages
@testable import QoSMessagesTestDriver

@Suite("Importance: the decisions")
struct ImportanceDecisionTests {
    @Test(
        "M3 a request above background is a hold until its answer has left and its work has ended",
        arguments: QoSClass.allCases)
    func request(_ qosClass: QoSClass) throws {
        let isHold = qosClass > .background
        var (client, server) = connected()
        let first = client.send([UInt8](repeating: 0, count: 20_000), at: QoSLevel(qosClass))
        server.receive(client.machine.takeOutput(limit: 1, now: 0))
        #expect(server.arrivals.isEmpty && server.machine.holds.isHeld == isHold)
        server.receive(client.output())
        server.machine.reply(first, [])
        #expect(server.machine.holds.isHeld == isHold)
        client.receive(server.output())
        #expect(client.events == [.replied(first, [])])
        #expect(server.machine.holds.importantRequests == (isHold ? 1 : 0))
        server.machine.endWork(try #require(server.arrivals.first?.hold))
        #expect(!server.machine.holds.isHeld)

        let second = client.send(at: QoSLevel(qosClass))
        server.receive(client.output())
        server.machine.endWork(try #require(server.arrivals.last?.hold))
        server.machine.reply(second, [])
        #expect(server.machine.holds.isHeld == isHold)
        client.receive(server.output())
        #expect(!server.machine.holds.isHeld)
    }

    @Test("M3 a message, a request without a handler, and one that is raised are holds, too")
    func otherRequests() throws {
        var (client, server) = connected()
        let message = client.send(isMessage: true)
        server.receive(client.output())
        server.machine.endWork(try #require(server.arrivals.first?.hold))
        #expect(server.machine.holds.importantRequests == 1)
        server.machine.endMessage(message)
        #expect(!server.machine.holds.isHeld)

        server.receive(Frame(kind: .request, level: .utility, number: 50, type: 9))
        #expect(server.machine.holds.importantRequests == 1)
        _ = server.output()
        #expect(!server.machine.holds.isHeld)

        let low = client.send(at: .background)
        server.receive(client.output())
        #expect(!server.machine.holds.isHeld)
        client.machine.raise(low, to: .utility)
        client.machine.raise(low, to: .userInitiated)
        server.receive(client.output())
        #expect(server.machine.holds.importantRequests == 1)
        server.machine.lose()
        #expect(!server.machine.holds.isHeld)
    }

    @Test("M3 explicit holds travel as a number: merged, never negative, bounded, and none after the end")
    func explicit() throws {
        var (client, server) = connected()
        client.machine.release()
        client.machine.hold()
        client.machine.hold()
        client.machine.release()
        let frames = try client.frames()
        #expect(frames.map(\.kind) == [.hold] && frames.first?.number == 1)
        client.machine.hold()
        client.machine.release()
        #expect(!client.machine.hasOutput)
        server.receive(frames[0], frames[0])
        #expect(server.machine.holds.explicit == 1)
        for _ in 0..<70_000 { client.machine.hold() }
        server.receive(client.output())
        #expect(server.machine.holds.explicit == PeerHolds.mostExplicit && server.ending == nil)
        for _ in 0..<70_000 { client.machine.release() }
        server.receive(client.output())
        #expect(server.machine.holds.explicit == 1)
        server.machine.lose()
        #expect(!server.machine.holds.isHeld)
    }

    @Test("M3 a peer that may not give importance has no holds")
    func uncounted() {
        var side = Side()
        side.machine = ConnectionMachine(limits: WireLimits(), types: Side.types, now: 0)
        side.receive(Frame(kind: .hello, content: WireHello(types: Side.types).content))
        side.receive(
            Frame(kind: .hold, number: 3), Frame(kind: .request, level: .userInitiated, number: 1, type: 1))
        #expect(side.arrivals.count == 1 && side.arrivals.first?.hold == nil)
        #expect(!side.machine.holds.isHeld && side.ending == nil)
    }

    @Test("M3 the clamp begins 50 ms after the last hold, with one alarm, and ends with the next hold")
    func hysteresis() {
        let ms: UInt64 = 1_000_000
        var machine = ClampMachine()
        #expect(machine.say == nil)
        machine.begin(now: 0)
        let first = machine.takeAlarm()
        #expect(first == 50 * ms && machine.say == false)
        for step in 1...40 {
            machine.holdsChanged(isHeld: true, now: UInt64(step) * ms)
            machine.holdsChanged(isHeld: false, now: UInt64(step) * ms)
        }
        let further = machine.takeAlarm()
        #expect(further == nil)
        machine.alarmRang(now: 50 * ms)
        let second = machine.takeAlarm()
        #expect(second == 90 * ms && !machine.isClamped)
        machine.alarmRang(now: 90 * ms - 1)
        let again = machine.takeAlarm()
        #expect(again == 90 * ms && !machine.isClamped)
        machine.alarmRang(now: 90 * ms)
        let none = machine.takeAlarm()
        #expect(none == nil && machine.say == true)
        machine.holdsChanged(isHeld: true, now: 100 * ms)
        let held = machine.takeAlarm()
        #expect(held == nil && machine.say == false)
        machine.holdsChanged(isHeld: false, now: 200 * ms)
        let third = machine.takeAlarm()
        #expect(third == 250 * ms)
        machine.holdsChanged(isHeld: true, now: 210 * ms)
        machine.alarmRang(now: 250 * ms)
        let last = machine.takeAlarm()
        #expect(last == nil && machine.say == false)
        machine.end()
        machine.holdsChanged(isHeld: false, now: 300 * ms)
        let after = machine.takeAlarm()
        #expect(after == nil && machine.say == nil)
    }
}

/// A clock and an alarm that the test moves.
private final class ManualTimer: Sendable {
    private struct State {
        var now: UInt64 = 0
        var alarm: UInt64?
        var clamp: ServiceClamp?
        var count = 0
    }

    private let state = Lock(State())

    var timer: ServiceClamp.Timer {
        ServiceClamp.Timer(
            now: { self.state.withLock { $0.now } },
            set: { clamp, time in
                self.state.withLock { state in
                    (state.clamp, state.alarm) = (clamp, time)
                    state.count += 1
                }
            })
    }

    /// Waits until the alarm has been set as often.
    func isSet(times count: Int) async {
        while state.withLock({ $0.count }) < count { await Task.yield() }
    }

    /// Lets time pass, and the alarm ring.
    func advance(by milliseconds: UInt64) {
        let end = state.withLock { $0.now + milliseconds * 1_000_000 }
        while let clamp = takeDue(end) { clamp.alarmRings() }
        state.withLock { $0.now = end }
    }

    /// Lets go of the clamp, which refers to the timer.
    func end() { state.withLock { $0.clamp = nil } }

    private func takeDue(_ end: UInt64) -> ServiceClamp? {
        state.withLock { state -> ServiceClamp? in
            guard let alarm = state.alarm, alarm <= end else { return nil }
            state.now = max(state.now, alarm)
            state.alarm = nil
            return state.clamp
        }
    }
}

@Suite("Importance in virtual time, in one process", .timeLimit(.minutes(2)))
struct ImportanceTimeTests {
    private static func withService(
        allow access: ServiceAccess = .sameUser, _ body: (Service, QoSScheduler, ManualTimer) async throws -> Void
    ) async throws {
        try await withScheduler { scheduler in
            let timer = ManualTimer()
            defer { timer.end() }
            let clamp = ServiceClamp(scheduler, timer.timer)
            try await body(Service("virtual", allow: access, clamp: clamp, on: scheduler), scheduler, timer)
        }
    }

    /// Sends a request from a task of a class, without raising it.
    private static func ask(
        _ session: ServiceSession, at qosClass: QoSClass, _ scheduler: QoSScheduler
    ) async throws -> String {
        try await scheduler.startDetachedTask(at: qosClass) { try await session.send(Echo(text: "")).text }.escaped
    }

    private static func reply(_ text: String) -> Echo.Reply {
        Echo.Reply(text: text, level: 0, deadlineIsSet: false, pid: 0)
    }

    @Test("M3 a request keeps the clamp off while it is in flight, and for 50 ms after; the clamp holds all work down")
    func requests() async throws {
        try await Self.withService { service, scheduler, timer in
            let (begun, release) = (Gate(), Gate())
            service.on(Echo.self) { _, _ in
                begun.open()
                await release.passed()
                return Self.reply(threadName())
            }
            let session = try await service.makeSession()
            timer.advance(by: 49)
            #expect(!service.importance.isClamped)
            timer.advance(by: 1)
            #expect(service.importance.isClamped)
            let clampedWorker = await utilityWorker(of: scheduler)
            #expect(clampedWorker.hasPrefix("qos-bg"))

            let asked = Task { try await Self.ask(session, at: .utility, scheduler) }
            await begun.passed()
            #expect(!service.importance.isClamped && service.importance.holders.map(\.requests) == [1])
            timer.advance(by: 10_000)
            #expect(!service.importance.isClamped)
            let freeWorker = await utilityWorker(of: scheduler)
            #expect(freeWorker.hasPrefix("qos-ut"))
            release.open()
            let handlerWorker = try await asked.value
            #expect(handlerWorker.hasPrefix("qos-ut"))
            await timer.isSet(times: 2)
            #expect(service.importance.holders.isEmpty)
            timer.advance(by: 49)
            #expect(!service.importance.isClamped)
            timer.advance(by: 1)
            #expect(service.importance.isClamped)
        }
    }

    @Test("M3 work that a handler started keeps the hold after the reply; detached work does not")
    func followingWork() async throws {
        try await Self.withService { service, scheduler, timer in
            let (following, detached) = (Gate(), Gate())
            service.on(Echo.self) { _, _ in
                Task { await following.passed() }
                Task.detached { await detached.passed() }
                scheduler.startDetachedTask(at: .utility) { await detached.passed() }
                return Self.reply("")
            }
            let session = try await service.makeSession()
            timer.advance(by: 50)
            #expect(service.importance.isClamped)
            _ = try await Self.ask(session, at: .utility, scheduler)
            #expect(service.importance.holders.map(\.requests) == [1])
            timer.advance(by: 10_000)
            #expect(!service.importance.isClamped)
            following.open()
            await timer.isSet(times: 2)
            #expect(service.importance.holders.isEmpty)
            timer.advance(by: 50)
            #expect(service.importance.isClamped && !detached.isOpen)
            detached.open()
        }
    }

    @Test("M3 a background request is no hold, and becomes one when it is raised")
    func raisedRequest() async throws {
        try await Self.withService { service, scheduler, timer in
            let (begun, ended, seen) = (Gate(), Gate(), Collected<Bool>())
            service.on(WaitForRaise.self) { [weak service] _, _ in
                if let service { seen.append(service.importance.isClamped) }
                begun.open()
                await waitUntilRaised()
                if let service { seen.append(service.importance.isClamped) }
                return []
            }
            let session = try await service.makeSession()
            timer.advance(by: 50)
            let task = scheduler.startDetachedTask(at: .background) {
                _ = try? await session.send(WaitForRaise())
                ended.open()
            }
            await begun.passed()
            scheduler.raise(task, to: .userInitiated)
            await ended.passed()
            #expect(seen.all == [true, false])
        }
    }

    @Test("M3 scopes of a client keep the clamp off until the last one has ended, by an error too, or the session")
    func scopes() async throws {
        try await Self.withService { service, _, timer in
            let session = try await service.makeSession()
            timer.advance(by: 50)
            #expect(service.importance.isClamped)
            await session.withImportance {
                await session.withImportance {
                    #expect(!service.importance.isClamped && service.importance.holders.map(\.scopes) == [2])
                }
                timer.advance(by: 10_000)
                #expect(!service.importance.isClamped && service.importance.holders.map(\.scopes) == [1])
            }
            await timer.isSet(times: 2)
            timer.advance(by: 50)
            #expect(service.importance.isClamped)

            await #expect(throws: CancellationError.self) {
                try await session.withImportance { () async throws -> Void in throw CancellationError() }
            }
            await timer.isSet(times: 3)
            timer.advance(by: 50)
            #expect(service.importance.isClamped && service.importance.holders.isEmpty)

            await session.withImportance {
                #expect(!service.importance.isClamped)
                session.close()
                await timer.isSet(times: 4)
                timer.advance(by: 50)
                #expect(service.importance.isClamped && service.importance.holders.isEmpty)
            }
        }
    }

    @Test("M3 a peer that is allowed no more than background gives no importance")
    func ceiling() async throws {
        try await Self.withService(allow: .sameUser(upTo: .background)) { service, scheduler, timer in
            service.on(Echo.self) { _, _ in Self.reply(threadName()) }
            let session = try await service.makeSession()
            timer.advance(by: 50)
            try await session.withImportance {
                let worker = try await Self.ask(session, at: .userInitiated, scheduler)
                #expect(worker.hasPrefix("qos-bg"))
                #expect(service.importance.isClamped && service.importance.holders.isEmpty)
            }
        }
    }

    @Test("M3 a service that does not ask for it is not clamped, and counts no holds")
    func unclamped() async throws {
        try await withScheduler { scheduler in
            let service = Service("free", on: scheduler)
            let session = try await service.makeSession()
            await session.withImportance {
                #expect(service.importance == ServiceImportance(isClamped: false, holders: []))
            }
        }
    }
}

@Suite("Importance in real time, within one process and between two", .timeLimit(.minutes(5)), .serialized)
struct ImportanceTests {
    /// Asks a service for its state, at background: that is no hold.
    private static func state(
        _ session: ServiceSession, _ scheduler: QoSScheduler
    ) async throws -> ClampState.Reply {
        try await scheduler.startDetachedTask(at: .background) { try await session.send(ClampState()) }.escaped
    }

    private static func stateWhenClamped(
        _ session: ServiceSession, _ scheduler: QoSScheduler
    ) async throws -> ClampState.Reply {
        while true {
            let state = try await Self.state(session, scheduler)
            if state.isClamped { return state }
        }
    }

    @Test("M3 a service is clamped until a client needs it, by pipe and by socket", arguments: Way.allCases)
    func ways(way: Way) async throws {
        try await TemporaryFolder.with { folder in
            try await withScheduler { scheduler in
                try await way.with(makeClampedService(folder["s"], on: scheduler)) { session in
                    for _ in 0..<2 {
                        let clamped = try await Self.stateWhenClamped(session, scheduler)
                        #expect(clamped.worker.hasPrefix("qos-bg") && clamped.requests == 0 && clamped.scopes == 0)
                        try await session.withImportance {
                            let held = try await Self.state(session, scheduler)
                            #expect(!held.isClamped && held.scopes == 1 && held.worker.hasPrefix("qos-ut"))
                        }
                    }
                    // A request above background sees itself.
                    let reply = try await scheduler.startDetachedTask(at: .utility) {
                        try await session.send(ClampState())
                    }.escaped
                    #expect(!reply.isClamped && reply.requests == 1)
                }
            }
        }
    }

    @Test("M3 a service process is clamped until another one needs it, and again when that one has died")
    func processes() async throws {
        try await TemporaryFolder.with { folder in
            try await withScheduler { scheduler in
                let server = try DriverProcess(program: "QoSMessagesTestDriver", ["clamped", folder["s"]])
                await server.printed("listening=true")
                let session = try await ServiceSession(to: folder["s"], on: nil)
                let before = try await Self.stateWhenClamped(session, scheduler)
                #expect(before.worker.hasPrefix("qos-bg"))
                let client = try DriverProcess(program: "QoSMessagesTestDriver", ["important", folder["s"]])
                await client.printed("holds=true")
                let held = try await Self.state(session, scheduler)
                #expect(!held.isClamped && held.scopes == 1 && held.worker.hasPrefix("qos-ut"))
                client.send(SIGKILL)
                _ = await client.ending()
                let after = try await Self.stateWhenClamped(session, scheduler)
                #expect(after.scopes == 0 && after.worker.hasPrefix("qos-bg"))
                server.send(SIGTERM)
                let ending = await server.ending()
                #expect(ending.status == 0 && ending.findings["clamped"] == "false", "\(ending)")
            }
        }
    }
}
