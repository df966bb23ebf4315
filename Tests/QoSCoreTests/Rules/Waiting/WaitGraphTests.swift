import QoSCore
import Testing

@Suite("The graph of waits")
struct WaitGraphTests {
    private typealias Graph = WaitGraph<String, String>
    private typealias Raise = WaitRaise<String>

    @Test("I2 the holder inherits the level of a waiter, and loses it on unlocking")
    func raise() throws {
        var graph = Graph()
        #expect(graph.acquired("low", "A") == [])
        #expect(
            try graph.waits("high", at: .userInitiated, for: "A").raises == [Raise(party: "low", level: .userInitiated)]
        )
        let (next, raises) = graph.handedOver("A", from: "low")
        #expect(next == "high")
        #expect(raises == [Raise(party: "low", level: nil)])
        #expect(graph.released("high", "A") == [])
        #expect(graph.isEmpty)
    }

    @Test("I2 the raise is transitive over several locks, and ends with the wait")
    func transitive() throws {
        var graph = Graph()
        _ = graph.acquired("c", "C")
        _ = graph.acquired("b", "B")
        _ = graph.acquired("a", "A")
        _ = try graph.waits("b", at: .background, for: "C")
        _ = try graph.waits("a", at: .utility, for: "B")
        let raises = try graph.waits("high", at: .userInteractive, for: "A").raises
        #expect(Set(raises.map(\.party)) == ["a", "b", "c"])
        #expect(raises.allSatisfy { $0.level == .userInteractive })
        let ended = graph.stoppedWaiting("high")
        #expect(
            Set(ended) == [
                Raise(party: "a", level: nil), Raise(party: "b", level: .utility), Raise(party: "c", level: .utility),
            ])
    }

    @Test("I2 of several waiters the highest counts; when it gives up, the next")
    func highest() throws {
        var graph = Graph()
        _ = graph.acquired("low", "A")
        _ = try graph.waits("utility", at: .utility, for: "A")
        #expect(try graph.waits("high", at: .userInitiated, for: "A").raises.first?.level == .userInitiated)
        #expect(try graph.waits("middle", at: .default, for: "A").raises == [])
        #expect(graph.stoppedWaiting("high") == [Raise(party: "low", level: .default)])
        #expect(graph.levelChanged("utility", to: .userInteractive) == [Raise(party: "low", level: .userInteractive)])
    }

    @Test("I2 it goes to the highest waiter, and to the first among equals")
    func order() throws {
        var graph = Graph()
        _ = graph.acquired("holder", "A")
        let levels: [(String, QoSLevel?)] = [
            ("unspecified", nil), ("u1", .utility), ("i1", .userInitiated), ("u2", .utility), ("i2", .userInitiated),
            ("b", .background),
        ]
        for (name, level) in levels { _ = try graph.waits(name, at: level, for: "A") }
        #expect(graph.waiters(for: "A") == ["i1", "i2", "u1", "u2", "b", "unspecified"])
        _ = graph.levelChanged("u2", to: .userInteractive)
        var holder = "holder"
        var served: [String] = []
        while let next = graph.handedOver("A", from: holder).next {
            served.append(next)
            holder = next
        }
        #expect(served == ["u2", "i1", "i2", "u1", "b", "unspecified"])
        #expect(graph.isEmpty)
    }

    @Test("I2 a waiter that is raised itself goes before those below its raised level")
    func raisedWaiter() throws {
        var graph = Graph()
        _ = graph.acquired("holder", "A")
        _ = graph.acquired("low", "B")
        _ = try graph.waits("middle", at: .default, for: "A")
        _ = try graph.waits("low", at: .background, for: "A")
        _ = try graph.waits("high", at: .userInitiated, for: "B")
        #expect(graph.waiters(for: "A") == ["low", "middle"])
    }

    @Test("I5 a cycle is refused, names both sides, and changes nothing")
    func cycle() throws {
        var graph = Graph()
        _ = graph.acquired("a", "A")
        _ = graph.acquired("b", "B")
        _ = try graph.waits("a", at: .utility, for: "B")
        let refused = #expect(throws: WaitCycle<String, String>.self) {
            try graph.waits("b", at: .utility, for: "A")
        }
        #expect(
            refused?.links == [
                .init(waiter: "b", awaited: "a", cause: "A"), .init(waiter: "a", awaited: "b", cause: "B"),
            ])
        #expect(graph.waiters(for: "A") == [])
        #expect(graph.handedOver("B", from: "b").next == "a")
    }

    @Test("I5 to wait for what one holds is a cycle of one")
    func reentrant() {
        var graph = Graph()
        _ = graph.acquired("a", "A")
        let refused = #expect(throws: WaitCycle<String, String>.self) { try graph.waits("a", at: .utility, for: "A") }
        #expect(refused?.isReentrant == true)
    }

    @Test("I5 shares of a semaphore: a wait is hopeless only when every holder waits for it")
    func shares() throws {
        var graph = Graph()
        _ = graph.acquired("a", "S")
        _ = graph.acquired("b", "S")
        _ = graph.acquired("c", "M")
        _ = try graph.waits("a", at: .utility, for: "M")
        // b runs and can give back its share.
        #expect(try graph.waits("c", at: .userInitiated, for: "S").raises.count == 3)
        #expect(graph.inheritedLevel(of: "c") == .userInitiated)
        #expect(graph.inheritedLevel(of: "b") == .userInitiated)
        // The circle of a and c does not keep itself up.
        _ = graph.levelChanged("c", to: .background)
        #expect(graph.inheritedLevel(of: "c") == .utility)
        #expect(graph.inheritedLevel(of: "b") == .utility)
        #expect(throws: WaitCycle<String, String>.self) { try graph.waits("b", at: .utility, for: "M") }
    }

    @Test("I5 a wait that somebody unknown can end is never refused")
    func unknownHolder() throws {
        var graph = Graph()
        _ = graph.acquired("a", "S")
        #expect(try graph.waits("a", at: .utility, for: "S", mayBeFreedByOthers: true).isBeyondDepth == false)
    }

    @Test("I2 a chain longer than the limit raises nobody, and says so; one as long as it does")
    func depth() throws {
        for length in [8, 9] {
            var graph = WaitGraph<Int, Int>(depthLimit: 8)
            for number in 0..<length { _ = graph.acquired(number, number) }
            for number in 1..<length { _ = try graph.waits(number, at: .background, for: number - 1) }
            let outcome = try graph.waits(99, at: .userInteractive, for: length - 1)
            #expect(outcome.isBeyondDepth == (length > 8))
            #expect(outcome.raises.count == (length > 8 ? 0 : length))
        }
    }

    @Test("I2 a long chain is raised and lowered in one event, without recursion")
    func longChain() throws {
        let length = 10_000
        var graph = WaitGraph<Int, Int>(depthLimit: .max)
        for number in 0..<length { _ = graph.acquired(number, number) }
        for number in (1..<length).reversed() { _ = try graph.waits(number, at: nil, for: number - 1) }
        #expect(try graph.waits(-1, at: .userInitiated, for: length - 1).raises.count == length)
        #expect(graph.stoppedWaiting(-1).count == length)
    }
}
