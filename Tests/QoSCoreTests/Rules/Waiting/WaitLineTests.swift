import QoSCore
import QoSTesting
import Testing

@Suite("The line of those who wait for a lock")
struct WaitLineTests {
    @Test("I2 the highest goes first, among equals the first to come; what has no level goes last")
    func order() {
        var line = WaitLine()
        let levels: [QoSLevel?] = [nil, .utility, .userInitiated, .utility, .userInitiated, .background]
        for (token, level) in levels.enumerated() { _ = line.add(UInt(token), at: LevelCode(level)) }
        #expect(line.highest == LevelCode(.userInitiated))
        #expect((0..<6).map { _ in line.removeFirst() } == [2, 4, 1, 3, 5, 0])
        #expect(line.removeFirst() == nil && line.highest == .none && line.count == 0)
    }

    @Test("I2 a waiter whose level changes keeps its time of arrival")
    func raised() {
        var line = WaitLine()
        let places = (0..<6).map { line.add(UInt($0), at: LevelCode($0 % 2 == 0 ? .utility : .userInitiated)) }
        line.changeLevel(at: places[4], to: LevelCode(.userInitiated))
        line.changeLevel(at: places[0], to: LevelCode(.userInitiated))
        line.changeLevel(at: places[1], to: LevelCode(.background))
        #expect((0..<6).map { _ in line.removeFirst() } == [0, 3, 4, 5, 2, 1])
    }

    @Test("I2 one turn in sixteen goes to the waiter that has waited longest, also where its level has changed")
    func longest() {
        var line = WaitLine()
        for token in 0..<2 as Range<UInt> { _ = line.add(token, at: LevelCode(.background)) }
        let raised = line.add(2, at: LevelCode(.background))
        line.changeLevel(at: raised, to: LevelCode(.utility))
        for token in 3..<50 as Range<UInt> { _ = line.add(token, at: LevelCode(.userInitiated)) }
        var order: [UInt?] = []
        for _ in 0..<48 {
            #expect(line.highest == LevelCode(.userInitiated))
            order.append(line.removeFirst())
        }
        #expect(order[15] == 0 && order[31] == 1 && order[47] == 2)
        #expect(order.filter { $0.map { $0 > 2 } == true } == (3..<48).map { $0 })
    }

    @Test("I2 any arrivals, departures and changes of level leave the order that the rule says", arguments: 0..<40)
    func random(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var line = WaitLine()
        var waiters: [UInt: (place: Int, level: LevelCode)] = [:]
        var highest: UInt? { waiters.keys.min { (waiters[$1]!.level, $0) < (waiters[$0]!.level, $1) } }
        var passed = 0
        for token in 0..<600 as Range<UInt> {
            let level = LevelCode(rawValue: UInt8.random(in: 0...80, using: &generator) / 20 * 20)
            switch Int.random(in: 0..<5, using: &generator) {
            case 0, 1:
                waiters[token] = (line.add(token, at: level), level)
            case 2:
                guard let chosen = waiters.keys.sorted().randomElement(using: &generator) else { continue }
                line.changeLevel(at: waiters[chosen]!.place, to: level)
                waiters[chosen]!.level = level
            case 3:
                guard let chosen = waiters.keys.sorted().randomElement(using: &generator) else { continue }
                #expect(line.token(at: waiters[chosen]!.place) == chosen)
                line.remove(at: waiters[chosen]!.place)
                waiters[chosen] = nil
            default:
                passed = highest == waiters.keys.min() ? 0 : passed + 1
                let expected = passed == 16 ? waiters.keys.min() : highest
                if passed == 16 { passed = 0 }
                #expect(line.removeFirst() == expected, "seed \(seed), step \(token)")
                if let expected { waiters[expected] = nil }
            }
            #expect(line.count == waiters.count)
            #expect(line.highest == (waiters.values.map(\.level).max() ?? .none), "seed \(seed), step \(token)")
        }
    }
}

@Suite("The share of the waiter that has waited longest")
struct HandOverShareTests {
    @Test("I2 one hand-over in sixteen that pass over it goes to it; one that does not begins anew")
    func share() {
        var share = HandOverShare()
        let turns = (1...48).filter { _ in share.goesToLongest(passesOver: true) }
        #expect(turns == [16, 32, 48])
        let before = (1...15).filter { _ in share.goesToLongest(passesOver: true) }
        let isPassedOver = share.goesToLongest(passesOver: false)
        let after = (1...16).filter { _ in share.goesToLongest(passesOver: true) }
        #expect(before == [] && !isPassedOver && after == [16])
    }
}

@Suite("What is known of one party")
struct WaitRecordTests {
    private let mutex = LockResource.mutex(64)
    private let gate = LockResource.gate(64)

    @Test("I2 a party inherits the highest demand, and runs or waits at the higher of that and its own level")
    func inherits() {
        var record = WaitRecord()
        record.begins(.init(for: gate, place: 0, id: 1, own: LevelCode(.default)))
        record.demands(LevelCode(.utility), for: mutex)
        #expect(record.inherited == LevelCode(.utility) && record.effective == LevelCode(.default))
        record.demands(LevelCode(.userInteractive), for: .mutex(128))
        record.demands(LevelCode(.background), for: mutex)
        #expect(record.effective == LevelCode(.userInteractive))
        record.demandsNothing(for: .mutex(128))
        #expect(record.inherited == LevelCode(.background))
        record.raiseOwn(to: LevelCode(.userInitiated))
        record.raiseOwn(to: LevelCode(.utility))
        #expect(record.effective == LevelCode(.userInitiated))
    }

    @Test("a party that waits already keeps that wait, until it ends for its resource")
    func waitsOnce() {
        var record = WaitRecord()
        let outer = record.begins(.init(for: gate, place: 0, id: 1, own: LevelCode(.utility)))
        let inner = record.begins(.init(for: mutex, place: 0, id: 2, own: LevelCode(.default)))
        #expect(outer && !inner)
        record.stopsWaiting(for: mutex)
        #expect(record.wait?.id == 1)
        record.stopsWaiting(for: gate)
        #expect(record.wait == nil)
    }

    @Test("a party that waits for nothing and holds nothing that others wait for is forgotten")
    func idle() {
        var record = WaitRecord()
        for resource in [mutex, gate, .mutex(128)] { record.demands(.none, for: resource) }
        #expect(record.isAwaited && record.inherited == .none)
        for resource in [gate, mutex, .mutex(128)] {
            #expect(!record.isIdle)
            record.demandsNothing(for: resource)
        }
        #expect(record.isIdle && !record.isAwaited)
    }

    @Test("a word says whether it names a thread or a task, and what kind of thing is waited for")
    func words() {
        #expect(LockParticipant.thread(7).threadID == 7 && LockParticipant.thread(7).taskAddress == nil)
        #expect(LockParticipant.task(at: 4096).taskAddress == 4096 && LockParticipant.task(at: 4096).threadID == nil)
        #expect(gate.kind == .gate && mutex.kind == .mutex && gate.address == 64 && mutex.address == 64)
        #expect(LockResource.execution(7).kind == .execution && LockResource.awaited(7).kind == .awaited)
        #expect(LockResource.execution(7).thread == 7 && LockResource.awaited(9).thread == 9)
    }
}
