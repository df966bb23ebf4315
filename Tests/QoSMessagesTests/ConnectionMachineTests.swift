import QoSCore
import QoSTesting
import Testing

@testable import QoSMessages

/// A side of a connection in virtual time, with what has happened to it.
struct Side {
    var machine: ConnectionMachine
    var events: [ConnectionMachine.Event] = []

    static let types: [UInt32: UInt16] = [1: 1, 2: 1]

    init(limits: WireLimits = WireLimits(), types: [UInt32: UInt16] = Side.types) {
        machine = ConnectionMachine(limits: limits, types: types, countsHolds: true, now: 0)
    }

    mutating func send(
        _ payload: [UInt8] = [1], type: UInt32 = 1, version: UInt16 = 1, isMessage: Bool = false,
        at level: QoSLevel = .utility, deadline: UInt64? = nil, now: UInt64 = 0
    ) -> UInt64 {
        machine.send(
            payload, type: type, version: version, isMessage: isMessage, at: level, WireContext(), deadline: deadline,
            now: now)
    }

    /// Returns all output.
    mutating func output(now: UInt64 = 0) -> [UInt8] {
        var bytes: [UInt8] = []
        while machine.hasOutput { bytes += machine.takeOutput(limit: 65_536, now: now) }
        events += machine.takeEvents()
        return bytes
    }

    /// Returns all output as frames.
    mutating func frames(now: UInt64 = 0) throws -> [Frame] {
        var frames: [Frame] = []
        var parser = FrameParser()
        let bytes = output(now: now)
        try parser.take(bytes[...]) { (frame) throws(WireViolation) in frames.append(frame) }
        return frames
    }

    mutating func receive(_ frames: Frame..., now: UInt64 = 0) {
        var bytes: [UInt8] = []
        for frame in frames { frame.write(to: &bytes) }
        machine.receive(bytes[...], now: now)
        events += machine.takeEvents()
    }

    mutating func receive(_ bytes: [UInt8], now: UInt64 = 0) {
        machine.receive(bytes[...], now: now)
        events += machine.takeEvents()
    }

    var arrivals: [ConnectionMachine.Arrival] {
        events.compactMap { if case .arrived(let arrival) = $0 { arrival } else { nil } }
    }

    var ending: ConnectionMachine.Ending? {
        events.lazy.compactMap { if case .ended(let ending) = $0 { ending } else { nil } }.first
    }
}

/// Two sides that have said hello.
func connected(_ limits: WireLimits = WireLimits()) -> (Side, Side) {
    var (client, server) = (Side(limits: limits), Side(limits: limits))
    server.receive(client.output())
    client.receive(server.output())
    (client.events, server.events) = ([], [])
    return (client, server)
}

/// Input that the protocol does not allow.
private enum Inputs {
    static let hello = Frame(kind: .hello, content: WireHello(types: Side.types).content)
    private static let frame = Frame(kind: .request, number: 1, type: 1)
    private static let tooMany: [Frame] = (1...65).map { Frame(kind: .request, number: UInt64($0), type: 1) }
    private static let tooLarge: [Frame] = (0..<66).map { index in
        Frame(
            kind: index % 33 == 0 ? .message : .chunk, flags: .more, number: UInt64(1 + index / 33), type: 1,
            content: [UInt8](repeating: 0, count: 16_384))
    }

    struct Wrong: Sendable {
        var frames: [Frame]
        var violation: WireViolation
        var isAfterHello = true
    }

    static let wrong: [Wrong] = [
        Wrong(frames: [frame], violation: .noHello, isAfterHello: false),
        Wrong(frames: [hello], violation: .secondHello),
        Wrong(frames: [Frame(kind: .hello, content: [1, 2, 3])], violation: .badHello, isAfterHello: false),
        Wrong(frames: [Frame(kind: .request, number: 0, type: 1)], violation: .badNumber),
        Wrong(frames: [frame, frame], violation: .badNumber),
        Wrong(frames: [Frame(kind: .chunk, number: 1)], violation: .unexpectedChunk),
        Wrong(frames: [Frame(kind: .chunk, flags: .ofReply, number: 7)], violation: .unknownNumber),
        Wrong(frames: [Frame(kind: .reply, number: 7)], violation: .unknownNumber),
        Wrong(frames: [Frame(kind: .error, number: 7, content: [1, 0, 0, 0, 0])], violation: .unknownNumber),
        Wrong(frames: [Frame(kind: .chunk, flags: .ofReply, number: 1)], violation: .unexpectedChunk),
        Wrong(frames: [Frame(kind: .credit, number: 1)], violation: .badContent),
        Wrong(frames: [Frame(kind: .credit, number: .max, type: .max)], violation: .badContent),
        Wrong(frames: [Frame(kind: .goodbye)], violation: .badContent),
        Wrong(frames: [Frame(kind: .hold, number: 65_536)], violation: .badContent),
        Wrong(
            frames: [Frame(kind: .request, number: 1, type: 1, contextLength: 1, content: [1])],
            violation: .badContext),
        Wrong(frames: tooMany, violation: .tooManyRequests),
        Wrong(frames: tooLarge, violation: .tooManyBytes),
    ]
}

@Suite("The wire: one side of a connection")
struct ConnectionMachineTests {
    @Test("a request is answered, and both sides are empty afterwards")
    func request() {
        var (client, server) = connected()
        let number = client.send([1, 2, 3], at: .userInitiated)
        server.receive(client.output())
        #expect(server.arrivals.map(\.payload) == [[1, 2, 3]])
        #expect(server.arrivals.first?.level == .userInitiated)
        server.machine.reply(number, [9])
        client.receive(server.output())
        #expect(client.events == [.replied(number, [9])])
        #expect(client.machine.openCount == 0 && client.machine.inFlight == 0 && client.machine.inFlightBytes == 0)
        #expect(server.machine.incomingCount == 0 && server.machine.held == 0 && server.machine.heldBytes == 0)
    }

    @Test("what the peer does not take ends before it leaves")
    func refusedHere() {
        var (client, _) = connected(WireLimits(messageBytes: 100, requests: 4, bytes: 100))
        let unknown = client.send(type: 7)
        let incompatible = client.send(version: 2)
        let large = client.send([UInt8](repeating: 0, count: 101))
        let late = client.send(deadline: 5, now: 5)
        #expect(client.output().isEmpty)
        #expect(
            client.events == [
                .failed(unknown, .init(reason: .unknownRequest, mayHaveBegun: false)),
                .failed(incompatible, .init(reason: .incompatible, mayHaveBegun: false)),
                .failed(large, .init(reason: .tooLarge, mayHaveBegun: false)),
                .failed(late, .init(reason: .timedOut, mayHaveBegun: false)),
            ])
    }

    @Test("a high request passes a large low one between two chunks, and comes out whole")
    func chunks() throws {
        var (client, server) = connected()
        let payload = (0..<100_000).map { UInt8(truncatingIfNeeded: $0) }
        let low = client.send(payload, at: .background)
        var bytes = client.machine.takeOutput(limit: 1, now: 0)
        let high = client.send([5], at: .userInitiated)
        bytes += client.output()
        server.receive(bytes)
        #expect(server.arrivals.map(\.number) == [high, low])
        #expect(server.arrivals.last?.payload == payload)
        server.machine.reply(low, payload)
        server.machine.reply(high, [])
        client.receive(server.output())
        #expect(client.events == [.replied(high, []), .replied(low, payload)])
    }

    @Test("a raise before departure changes the header; one after it is a frame, merged and never lower")
    func raises() throws {
        var (client, server) = connected()
        let early = client.send(at: .background)
        client.machine.raise(early, to: .utility)
        client.machine.raise(early, to: .background)
        #expect(try client.frames().map(\.level) == [.utility])
        client.machine.raise(early, to: .default)
        client.machine.raise(early, to: .userInitiated)
        client.machine.raise(early, to: .default)
        client.machine.raise(99, to: .userInitiated)
        let frames = try client.frames()
        #expect(frames.map(\.kind) == [.raise] && frames.map(\.level) == [.userInitiated])
        #expect(try client.frames().isEmpty)

        server.receive(Frame(kind: .request, level: .background, number: 1, type: 1))
        server.receive(
            Frame(kind: .raise, level: .utility, number: 1), Frame(kind: .raise, level: .background, number: 1),
            Frame(kind: .raise, level: .userInitiated, number: 5))
        #expect(server.events.dropFirst() == [.raiseHandler(1, .utility)])
    }

    @Test("a waiting request that is raised gets the next credit")
    func raisedWhileWaiting() {
        var (client, server) = connected(WireLimits(messageBytes: 100, requests: 1, bytes: 100))
        let first = client.send()
        let second = client.send(at: .utility)
        let third = client.send(at: .background)
        server.receive(client.output())
        #expect(server.arrivals.map(\.number) == [first])
        client.machine.raise(third, to: .userInitiated)
        server.machine.reply(first, [])
        client.receive(server.output())
        server.receive(client.output())
        #expect(server.arrivals.map(\.number) == [first, third])
        server.machine.reply(third, [])
        client.receive(server.output())
        server.receive(client.output())
        #expect(server.arrivals.map(\.number) == [first, third, second])
    }

    @Test("cancel: not begun, half sent, and running; the credit comes back with the answer")
    func cancel() throws {
        var (client, server) = connected(WireLimits(messageBytes: 50_000, requests: 2, bytes: 100_000))
        let half = client.send([UInt8](repeating: 1, count: 40_000))
        var bytes = client.machine.takeOutput(limit: 1, now: 0)
        client.machine.cancel(half)
        let running = client.send([2])
        let waiting = client.send([3])
        client.machine.cancel(waiting)
        bytes += client.output()
        server.receive(bytes)
        #expect(server.arrivals.map(\.number) == [running])
        client.machine.cancel(running)
        client.machine.cancel(running)
        #expect(client.machine.inFlight == 2)
        server.receive(client.output())
        #expect(server.events.last == .cancelHandler(running))
        // The handler may end with a reply all the same: nobody gets it.
        server.machine.reply(running, [UInt8](repeating: 0, count: 10_000))
        let answers = server.output()
        #expect(answers.count < 200)
        client.receive(answers)
        #expect(
            client.events == [
                .failed(half, .init(reason: .cancelled, mayHaveBegun: false)),
                .failed(waiting, .init(reason: .cancelled, mayHaveBegun: false)),
                .failed(running, .init(reason: .cancelled, mayHaveBegun: true)),
            ])
        #expect(client.machine.openCount == 0 && client.machine.inFlight == 0)
        #expect(server.machine.held == 0 && server.machine.heldBytes == 0)
    }

    @Test("a deadline ends the wait and the handler; a late reply is dropped")
    func deadline() {
        var (client, server) = connected()
        let number = client.send(deadline: 1_000, now: 400)
        #expect(client.machine.nextTime == 1_000)
        server.receive(client.output(now: 500), now: 100_000)
        #expect(server.arrivals.first?.context.remaining == 500)
        #expect(server.machine.nextTime == 100_500)
        server.machine.tick(now: 100_500)
        #expect(server.machine.takeEvents() == [.cancelHandler(number)])
        client.machine.tick(now: 999)
        #expect(client.machine.takeEvents().isEmpty)
        client.machine.tick(now: 1_000)
        #expect(client.machine.takeEvents() == [.failed(number, .init(reason: .timedOut, mayHaveBegun: true))])
        server.machine.reply(number, [1])
        client.receive(server.output())
        #expect(client.events.isEmpty && client.machine.openCount == 0)
    }

    @Test("a message that is cancelled while it leaves may have begun: its rest leaves, and its handler runs")
    func cancelledMessage() {
        var (client, server) = connected()
        let number = client.send([UInt8](repeating: 7, count: 100_000), isMessage: true)
        server.receive(client.machine.takeOutput(limit: 20_000, now: 0))
        client.machine.cancel(number)
        #expect(client.machine.takeEvents() == [.failed(number, .init(reason: .cancelled, mayHaveBegun: true))])
        server.receive(client.output())
        #expect(server.arrivals.map(\.number) == [number])
    }

    @Test("requests that end while a peer gives no credit leave nothing in the line")
    func abandonedLine() {
        var (client, _) = connected(WireLimits(requests: 1))
        _ = client.send()
        for _ in 0..<10_000 {
            let number = client.send()
            client.machine.cancel(number)
        }
        #expect(client.machine.waitingCount < 200)
        #expect(client.machine.openCount == 1)
    }

    @Test("a request whose time is over on arrival does not run")
    func lateArrival() throws {
        var (_, server) = connected()
        let context = WireContext(remaining: 0).content
        server.receive(
            Frame(kind: .request, number: 1, type: 1, contextLength: context.count, content: context))
        #expect(server.events.isEmpty)
        let answers = try server.frames()
        let answer = try #require(answers.first)
        #expect(answer.kind == .error && answer.flags == .notBegun)
        #expect(try WireFailure(answer.content).code == .timedOut)
    }

    @Test("messages suspend without credit, and credits come in batches")
    func messages() throws {
        var (client, server) = connected(WireLimits(messageBytes: 100, requests: 8, bytes: 100))
        let numbers = (0..<10).map { _ in client.send(isMessage: true) }
        server.receive(client.output())
        #expect(client.events == numbers.prefix(8).map { .sent($0) })
        server.machine.endMessage(numbers[0])
        #expect(!server.machine.hasOutput)
        server.machine.endMessage(numbers[1])
        let credit = try server.frames()
        #expect(credit.map(\.kind) == [.credit] && credit.first?.number == 2 && credit.first?.type == 2)
        client.receive(credit[0])
        server.receive(client.output())
        #expect(server.arrivals.count == 10)
        for number in numbers.dropFirst(2) { server.machine.endMessage(number) }
        client.receive(server.output())
        #expect(client.machine.inFlight == 0 && client.machine.inFlightBytes == 0)
    }

    @Test("a full byte limit comes back although other messages run")
    func bytesCome() {
        var (client, server) = connected(WireLimits(messageBytes: 100, requests: 64, bytes: 100))
        let large = client.send([UInt8](repeating: 0, count: 99), isMessage: true)
        let small = client.send([0], isMessage: true)
        let waits = client.send([UInt8](repeating: 0, count: 50), isMessage: true)
        server.receive(client.output())
        server.machine.endMessage(large)
        client.receive(server.output())
        server.receive(client.output())
        #expect(server.arrivals.map(\.number) == [large, small, waits])
    }

    @Test(
        "M1 each violation ends the connection with a goodbye, and nothing else happens",
        arguments: Inputs.wrong.indices)
    func violations(index: Int) throws {
        let (frames, violation) = (Inputs.wrong[index].frames, Inputs.wrong[index].violation)
        let saysHello = Inputs.wrong[index].isAfterHello
        var side = Side()
        _ = side.output()
        if saysHello { side.receive(Inputs.hello) }
        let own = side.send(type: 2)
        _ = side.machine.takeOutput(limit: 1, now: 0)
        for frame in frames where side.ending == nil { side.receive(frame) }
        #expect(side.ending == .violation(violation))
        #expect(
            side.events.contains(
                .failed(own, .init(reason: .ended(.violation(violation)), mayHaveBegun: saysHello))))
        let last = try side.frames()
        #expect(last.map(\.kind) == [.goodbye])
        side.receive(Frame(kind: .request, number: 9, type: 1))
        let later = side.machine.takeEvents()
        #expect(side.machine.hasEnded && !side.machine.hasOutput && later.isEmpty)
        #expect(side.machine.nextTime == nil && side.machine.openCount == 0 && side.machine.incomingCount == 0)
        #expect(!side.machine.holds.isHeld)
    }

    @Test("another version of the wire is refused at connect")
    func version() throws {
        var side = Side()
        _ = side.output()
        var content = WireHello().content
        content[4] = 2
        side.receive(Frame(kind: .hello, content: content))
        guard case .goodbye(let failure) = side.ending else {
            Issue.record("\(String(describing: side.ending))")
            return
        }
        #expect(failure.code == .incompatible)
        #expect(try side.frames().map(\.kind) == [.goodbye])
    }

    @Test("no hello in five seconds, and no bytes taken in thirty")
    func patience() {
        var silent = Side()
        #expect(silent.machine.nextTime == 5_000_000_000)
        silent.machine.tick(now: 4_999_999_999)
        #expect(!silent.machine.hasEnded)
        silent.machine.tick(now: 5_000_000_000)
        #expect(silent.machine.hasEnded)
        var (client, _) = connected()
        _ = client.send()
        client.machine.outputStalls(now: 100)
        #expect(client.machine.nextTime == 30_000_000_100)
        client.machine.tick(now: 30_000_000_100)
        #expect(client.machine.takeEvents().last == .ended(.tooSlow))
    }

    @Test("pings are answered once, whatever their number")
    func pings() throws {
        var (client, _) = connected()
        for number in 1...1_000 { client.receive(Frame(kind: .ping, number: UInt64(number))) }
        #expect(try client.frames().map(\.number) == [1_000])
    }

    @Test("random and damaged bytes never trap; the machine holds no more than it promised", arguments: 0..<128)
    func fuzz(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let limits = WireLimits(messageBytes: 5_000, requests: 8, bytes: 20_000)
        for _ in 0..<20 {
            var side = Side(limits: limits)
            _ = side.output()
            if Int.random(in: 0..<8, using: &random) > 0 { side.receive(Inputs.hello) }
            var now: UInt64 = 0
            for _ in 0..<60 where !side.machine.hasEnded {
                now += UInt64.random(in: 0..<50_000_000, using: &random)
                var bytes = Self.likely(&random)
                if Int.random(in: 0..<6, using: &random) == 0, !bytes.isEmpty {
                    bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
                }
                let cut = Int.random(in: 0...bytes.count, using: &random)
                side.receive(Array(bytes[..<cut]), now: now)
                side.receive(Array(bytes[cut...]), now: now)
                Self.act(&side, &random, now)
                side.machine.tick(now: now)
                #expect(side.machine.held <= limits.requests && side.machine.heldBytes <= limits.bytes, "seed \(seed)")
                #expect(side.machine.held >= 0 && side.machine.heldBytes >= 0 && side.machine.inFlight >= 0)
                #expect(side.machine.incomingCount <= limits.requests)
            }
            side.machine.close()
            _ = side.output(now: now)
            #expect(side.machine.openCount == 0 && side.machine.incomingCount == 0)
        }
    }

    /// A frame of small numbers, so that many fit the state.
    private static func likely(_ random: inout SeededGenerator) -> [UInt8] {
        var frame = FrameTests.randomFrame(&random)
        frame.number = UInt64.random(in: 0...6, using: &random)
        if frame.kind == .hello || frame.kind == .goodbye { frame.kind = .request }
        frame.type = UInt32.random(in: 0...3, using: &random)
        if Int.random(in: 0..<4, using: &random) > 0 {
            frame.contextLength = 0
            frame.flags.remove(.ofReply)
        }
        if Int.random(in: 0..<4, using: &random) > 0, [.reply, .error, .credit].contains(frame.kind) {
            frame.kind = .request
        }
        var bytes: [UInt8] = []
        frame.write(to: &bytes)
        return bytes
    }

    private static func act(_ side: inout Side, _ random: inout SeededGenerator, _ now: UInt64) {
        switch Int.random(in: 0..<6, using: &random) {
        case 0:
            _ = side.send(
                type: UInt32.random(in: 1...3, using: &random), isMessage: Bool.random(using: &random),
                deadline: now + UInt64.random(in: 0..<1_000_000_000, using: &random), now: now)
        case 1: side.machine.cancel(UInt64.random(in: 0...6, using: &random))
        case 2: side.machine.raise(UInt64.random(in: 0...6, using: &random), to: .userInitiated)
        case 3: side.machine.reply(UInt64.random(in: 0...6, using: &random), [1, 2])
        case 4: side.machine.endMessage(UInt64.random(in: 0...6, using: &random))
        default: _ = side.output(now: now)
        }
    }
}
