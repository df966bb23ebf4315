import QoSTesting
import Testing

@testable import QoSCore

@Suite("The order of a queue")
struct WorkOrderTests {
    private static let background = LevelCode(.background)
    private static let utility = LevelCode(.utility)
    private static let high = LevelCode(.userInitiated)

    @Test("B1 a serial queue gives one item at a time its turn, in the order of submission")
    func serial() {
        let order = OrderUnderTest(isSerial: true)
        for token in UInt(1)...3 { _ = order.added(token: token, level: .none, isBarrier: false) }
        for token in UInt(1)...3 {
            #expect(order.next() == token)
            #expect(order.next() == nil)
            order.ended()
        }
        #expect(order.isEmpty)
    }

    @Test("I3 B15 a high item raises the running one, until it has been reached")
    func raisesUntilReached() {
        let order = OrderUnderTest(isSerial: true)
        _ = order.added(token: 1, level: Self.background, isBarrier: false)
        #expect(order.next() == 1)
        _ = order.added(token: 2, level: Self.background, isBarrier: false)
        _ = order.added(token: 3, level: Self.high, isBarrier: false)
        _ = order.added(token: 4, level: Self.utility, isBarrier: false)
        #expect(order.raise == Self.high)
        order.ended()
        #expect(order.next() == 2)
        #expect(order.raise == Self.high)
        order.ended()
        #expect(order.next() == 3)
        #expect(order.raise == Self.utility)
    }

    @Test("I1 B13 a wait raises what stands before the item, for as long as it lasts")
    func waitRaises() {
        let order = OrderUnderTest(isSerial: true)
        _ = order.added(token: 1, level: Self.background, isBarrier: false)
        #expect(order.next() == 1)
        let number = order.added(token: 2, level: Self.background, isBarrier: false)
        order.levelChanged(of: number, to: Self.high)
        #expect(order.raise == Self.high)
        order.levelChanged(of: number, to: Self.background)
        #expect(order.raise == Self.background)
    }

    @Test("B11 a barrier runs alone, after all before it, before all after it")
    func barrier() {
        let order = OrderUnderTest(isSerial: false)
        for token in UInt(1)...2 { _ = order.added(token: token, level: .none, isBarrier: false) }
        _ = order.added(token: 3, level: .none, isBarrier: true)
        for token in UInt(4)...5 { _ = order.added(token: token, level: .none, isBarrier: false) }
        #expect([order.next(), order.next(), order.next()] == [1, 2, nil])
        order.ended()
        #expect(order.next() == nil)
        order.ended()
        #expect([order.next(), order.next()] == [3, nil])
        order.ended()
        #expect([order.next(), order.next(), order.next()] == [4, 5, nil])
    }

    @Test("B11 I3 items behind a barrier raise what the barrier waits for; items beside do not")
    func barrierRaises() {
        let order = OrderUnderTest(isSerial: false)
        _ = order.added(token: 1, level: Self.background, isBarrier: false)
        #expect(order.next() == 1)
        _ = order.added(token: 2, level: Self.high, isBarrier: false)
        #expect(order.raise == .none)
        #expect(order.next() == 2)
        _ = order.added(token: 3, level: Self.background, isBarrier: true)
        #expect(order.raise == Self.background)
        _ = order.added(token: 4, level: Self.high, isBarrier: false)
        #expect(order.raise == Self.high)
    }

    @Test("B7 a synchronous submission enters at once only where nothing stands in its way")
    func entering() {
        let serial = OrderUnderTest(isSerial: true)
        #expect(serial.entered(isBarrier: false))
        #expect(!serial.entered(isBarrier: false))
        serial.ended()
        serial.suspended()
        #expect(!serial.entered(isBarrier: false))
        let concurrent = OrderUnderTest(isSerial: false)
        #expect(concurrent.entered(isBarrier: false))
        #expect(concurrent.entered(isBarrier: false))
        #expect(!concurrent.entered(isBarrier: true))
        _ = concurrent.added(token: 1, level: .none, isBarrier: true)
        #expect(!concurrent.entered(isBarrier: false))
    }

    @Test("a queue that is not suspended cannot be resumed")
    func unbalancedResume() {
        let order = OrderUnderTest(isSerial: true)
        let early = order.resumed()
        #expect(!early)
        order.suspended()
        order.suspended()
        _ = order.added(token: 1, level: .none, isBarrier: false)
        #expect(order.next() == nil)
        let first = order.resumed()
        #expect(first && order.next() == nil)
        let second = order.resumed()
        #expect(second && order.next() == 1)
        let third = order.resumed()
        #expect(!third)
    }

    @Test("B1 B11 B13 B15 I1 I3 random events come out as a slow oracle says", arguments: 0..<40 as Range<UInt64>)
    func againstOracle(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let isSerial = seed % 3 == 0
        let order = OrderUnderTest(isSerial: isSerial)
        var oracle = WorkOrderOracle(isSerial: isSerial)
        var numbers: [UInt: Int] = [:]
        var token: UInt = 0
        // Long runs of one kind of event too, so that the queue becomes long and is compacted.
        var bias = 0
        for step in 0..<800 {
            if step % 100 == 0 { bias = Int.random(in: 0...2, using: &random) }
            switch Int.random(in: 0..<(10 + 4 * bias), using: &random) {
            case 0...2, 10...:
                token += 1
                let level = LevelCode(rawValue: UInt8.random(in: 0...80, using: &random))
                let isBarrier = Int.random(in: 0..<4, using: &random) == 0
                numbers[token] = order.added(token: token, level: level, isBarrier: isBarrier)
                oracle.items.append(.init(token: token, level: level, isBarrier: isBarrier, isActive: false))
            case 3...5:
                let next = oracle.next
                #expect(order.hasNext == (next != nil), "seed \(seed) step \(step)")
                #expect(order.next() == next.map { oracle.items[$0].token }, "seed \(seed) step \(step)")
                if let next { oracle.items[next].isActive = true }
            case 6, 7:
                guard
                    let index = oracle.items.indices.filter({ oracle.items[$0].isActive }).randomElement(using: &random)
                else { continue }
                oracle.items.remove(at: index)
                order.ended()
            case 8:
                let held = oracle.items.indices.filter { !oracle.items[$0].isActive }
                guard let index = held.randomElement(using: &random), let number = numbers[oracle.items[index].token]
                else { continue }
                let level = LevelCode(rawValue: UInt8.random(in: 0...80, using: &random))
                oracle.items[index].level = level
                order.levelChanged(of: number, to: level)
            default:
                if oracle.suspensions > 0 || Int.random(in: 0..<8, using: &random) > 0 {
                    let wasSuspended = order.resumed()
                    #expect(wasSuspended == (oracle.suspensions > 0), "seed \(seed) step \(step)")
                    oracle.suspensions = max(0, oracle.suspensions - 1)
                } else {
                    order.suspended()
                    oracle.suspensions += 1
                }
            }
            #expect(order.activeCount == oracle.items.count(where: \.isActive), "seed \(seed) step \(step)")
            if order.activeCount > 0 { #expect(order.raise == oracle.raise, "seed \(seed) step \(step)") }
            #expect(order.highestHeld == oracle.highestHeld, "seed \(seed) step \(step)")
        }
    }

    @Test("a high item behind a million others costs no more than behind one")
    func millionHeld() {
        let order = OrderUnderTest(isSerial: true)
        for token in UInt(0)..<1_000_000 { _ = order.added(token: token, level: Self.background, isBarrier: false) }
        #expect(order.next() == 0)
        #expect(order.raise == Self.background)
        let number = order.added(token: 1_000_000, level: Self.high, isBarrier: false)
        #expect(order.raise == Self.high)
        order.levelChanged(of: number, to: Self.utility)
        #expect(order.raise == Self.utility)
        order.ended()
        for token in UInt(1)...1_000_000 {
            let next = order.next()
            if next != token { Issue.record("\(token) expected, \(String(describing: next)) came") }
            order.ended()
        }
        #expect(order.isEmpty)
    }
}
