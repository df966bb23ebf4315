import QoSCore
import QoSTesting
import Testing

@testable import QoSMessages

/// Two machines, a random network between them and virtual time. A record of every request says what must hold:
///
/// - each request ends exactly once, with its own reply or with an error that fits what has happened to it;
/// - a request that is said not to have begun has not reached a handler;
/// - neither side holds more than it promised;
/// - a handler's level is never lower than the level that its request had when the last byte arrived;
/// - a request above background is a hold while its handler runs, and none when both sides are quiet (rule M3);
/// - after quiet, both sides are empty.
@Suite("The wire: two peers in virtual time")
struct TwoPeerModelTests {
    struct Record {
        var level: QoSLevel
        var isMessage: Bool
        var payload: [UInt8]
        var ends = 0
        var arrivals = 0
        var isCancelled = false
    }

    struct Peer {
        var side: Side
        var records: [UInt64: Record] = [:]
        /// Arrived, and not answered.
        var running: [UInt64: (isMessage: Bool, level: QoSLevel, payload: [UInt8], hold: PeerHolds.Key?)] = [:]
        /// On their way to the other peer.
        var wire: [UInt8] = []
    }

    static let limits = WireLimits(messageBytes: 40_000, requests: 6, bytes: 60_000)

    @Test("M1 random sends, raises, cancels, deadlines, answers and losses", arguments: 0..<100)
    func model(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var peers = [Peer(side: Side(limits: Self.limits)), Peer(side: Side(limits: Self.limits))]
        var now: UInt64 = 0
        var isLost = false
        let steps = 300
        for step in 0..<steps {
            now += UInt64.random(in: 0..<1_000_000, using: &random)
            let index = Int.random(in: 0...1, using: &random)
            Self.step(&peers[index], &random, now)
            let mover = Int.random(in: 0...1, using: &random)
            Self.move(&peers, from: mover, &random, now)
            for index in 0...1 {
                peers[index].side.machine.tick(now: now)
                Self.take(&peers, index, seed)
            }
            // One run in four ends by the loss of the connection, at any step.
            if seed % 4 == 0, !isLost,
                Int.random(in: 0..<steps, using: &random) == 0 || seed % 4 == 0 && step == steps - 1
            {
                isLost = true
                for index in 0...1 {
                    peers[index].side.machine.lose()
                    Self.take(&peers, index, seed)
                }
            }
        }
        // Quiet: every handler answers, every byte arrives.
        for _ in 0..<200 {
            for index in 0...1 {
                for number in peers[index].running.keys.sorted() { Self.answer(&peers[index], number, &random) }
                Self.take(&peers, index, seed)
                let output = peers[index].side.output(now: now)
                let bytes = peers[index].wire + output
                peers[index].wire = []
                peers[1 - index].side.receive(bytes, now: now)
                Self.take(&peers, index, seed)
                Self.take(&peers, 1 - index, seed)
            }
        }
        for peer in peers {
            #expect(isLost == peer.side.machine.hasEnded, "seed \(seed)")
            for (number, record) in peer.records { #expect(record.ends == 1, "seed \(seed): request \(number)") }
            #expect(peer.side.machine.openCount == 0 && peer.side.machine.incomingCount == 0, "seed \(seed)")
            #expect(peer.side.machine.inFlight == 0 && peer.side.machine.inFlightBytes == 0, "seed \(seed)")
            #expect(peer.side.machine.held == 0 && peer.side.machine.heldBytes == 0, "seed \(seed)")
            #expect(peer.side.machine.holds.importantRequests == 0, "seed \(seed)")
        }
        for index in 0...1 {
            let (own, seen) = (peers[index].side.machine.ownHolds, peers[1 - index].side.machine.holds.explicit)
            #expect(seen == (isLost ? 0 : own), "seed \(seed): holds")
        }
    }

    /// One random act of a peer.
    private static func step(_ peer: inout Peer, _ random: inout SeededGenerator, _ now: UInt64) {
        let level = QoSLevel(QoSClass.allCases.randomElement(using: &random) ?? .default)
        switch Int.random(in: 0..<12, using: &random) {
        case 10: peer.side.machine.hold()
        case 11: peer.side.machine.release()
        case 0..<4:
            let isLarge = Int.random(in: 0..<5, using: &random) == 0
            let size = Int.random(in: 0...(isLarge ? 20_000 : 20), using: &random)
            let payload = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ size) }
            let isMessage = Int.random(in: 0..<3, using: &random) == 0
            let deadline =
                Int.random(in: 0..<4, using: &random) == 0 ? now + .random(in: 0..<100_000_000, using: &random) : nil
            let number = peer.side.send(payload, isMessage: isMessage, at: level, deadline: deadline, now: now)
            peer.records[number] = Record(level: level, isMessage: isMessage, payload: payload)
        case 4:
            if let number = peer.records.keys.sorted().randomElement(using: &random) {
                peer.side.machine.cancel(number)
                peer.records[number]?.isCancelled = true
            }
        case 5, 6:
            if let number = peer.records.keys.sorted().randomElement(using: &random), let record = peer.records[number]
            {
                peer.side.machine.raise(number, to: level)
                peer.records[number]?.level = max(record.level, level)
            }
        default:
            if let number = peer.running.keys.sorted().randomElement(using: &random) { answer(&peer, number, &random) }
        }
    }

    private static func answer(_ peer: inout Peer, _ number: UInt64, _ random: inout SeededGenerator) {
        guard let run = peer.running.removeValue(forKey: number) else { return }
        if let hold = run.hold { peer.side.machine.endWork(hold) }
        if run.isMessage {
            peer.side.machine.endMessage(number)
        } else if Int.random(in: 0..<4, using: &random) == 0 {
            peer.side.machine.fail(number, WireFailure(.failed, number: 7, "no"), hasBegun: true)
        } else {
            peer.side.machine.reply(number, run.payload.reversed())
        }
    }

    /// Moves some bytes.
    private static func move(_ peers: inout [Peer], from: Int, _ random: inout SeededGenerator, _ now: UInt64) {
        if Bool.random(using: &random) {
            let limit = Int.random(in: 1...40_000, using: &random)
            let bytes = peers[from].side.machine.takeOutput(limit: limit, now: now)
            peers[from].wire += bytes
        }
        let count = Int.random(in: 0...peers[from].wire.count, using: &random)
        peers[1 - from].side.receive(Array(peers[from].wire.prefix(count)), now: now)
        peers[from].wire.removeFirst(count)
    }

    /// Checks what has happened.
    private static func take(_ peers: inout [Peer], _ index: Int, _ seed: UInt64) {
        peers[index].side.events += peers[index].side.machine.takeEvents()
        let events = peers[index].side.events
        peers[index].side.events = []
        for event in events {
            switch event {
            case .arrived(let arrival):
                peers[index].running[arrival.number] = (
                    arrival.isMessage, arrival.level, arrival.payload, arrival.hold
                )
                let record = peers[1 - index].records[arrival.number]
                #expect(record?.payload == arrival.payload && record?.isMessage == arrival.isMessage, "seed \(seed)")
                peers[1 - index].records[arrival.number]?.arrivals += 1
                #expect(peers[1 - index].records[arrival.number]?.arrivals == 1, "seed \(seed): arrived twice")
            case .raiseHandler(let number, let level):
                if let run = peers[index].running[number] {
                    #expect(level > run.level, "seed \(seed): a raise lowers")
                    peers[index].running[number]?.level = level
                }
                #expect(peers[1 - index].records[number].map { $0.level >= level } ?? false, "seed \(seed)")
            case .replied(let number, let payload):
                let record = peers[index].records[number]
                #expect(payload == record.map { Array($0.payload.reversed()) }, "seed \(seed): another's reply")
                peers[index].records[number]?.ends += 1
            case .sent(let number): peers[index].records[number]?.ends += 1
            case .failed(let number, let failure):
                let record = peers[index].records[number]
                peers[index].records[number]?.ends += 1
                if failure.reason == .cancelled { #expect(record?.isCancelled == true, "seed \(seed)") }
                if !failure.mayHaveBegun {
                    #expect(record?.arrivals == 0, "seed \(seed): \(number) has begun: \(failure)")
                }
            case .ended(let ending): #expect(ending == .lost, "seed \(seed): \(ending)")
            case .ready, .cancelHandler: break
            }
        }
        let machine = peers[index].side.machine
        let important = peers[index].running.values.count { PeerHolds.isImportant($0.level) }
        #expect(machine.hasEnded || machine.holds.importantRequests >= important, "seed \(seed): holds")
        #expect(machine.held <= limits.requests && machine.heldBytes <= limits.bytes, "seed \(seed): held")
        #expect(machine.inFlight <= limits.requests && machine.inFlightBytes <= limits.bytes, "seed \(seed): credits")
    }
}
