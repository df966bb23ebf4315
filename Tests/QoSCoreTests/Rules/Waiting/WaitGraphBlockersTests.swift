import QoSCore
import QoSTesting
import Testing

@Suite("The graph of waits: what has no holder of its own")
struct WaitGraphBlockersTests {
    private typealias Graph = WaitGraph<String, String>
    private typealias Link = WaitCycle<String, String>.Link

    @Test(
        "I5 two threads that run the turn of one queue each and wait for that of the other: the second is refused, by both names"
    )
    func twoQueues() throws {
        var graph = Graph()
        let turns = ["queue A": ["a"], "queue B": ["b"]]
        _ = try graph.waits("a", at: .utility, for: "queue B") { turns[$0] ?? [] }
        let refused = #expect(throws: WaitCycle<String, String>.self) {
            try graph.waits("b", at: .utility, for: "queue A") { turns[$0] ?? [] }
        }
        #expect(
            refused?.links == [
                Link(waiter: "b", awaited: "a", cause: "queue A"),
                Link(waiter: "a", awaited: "b", cause: "queue B"),
            ])
        #expect(graph.resource(awaitedBy: "b") == nil)
    }

    @Test("I5 a cycle over a mutex and a queue names all of its members")
    func mixed() throws {
        var graph = Graph()
        _ = graph.acquired("a", "mutex")
        let turns = ["queue": ["b"], "once": ["c"]]
        _ = try graph.waits("b", at: .utility, for: "once") { turns[$0] ?? [] }
        _ = try graph.waits("c", at: .utility, for: "mutex") { turns[$0] ?? [] }
        let refused = #expect(throws: WaitCycle<String, String>.self) {
            try graph.waits("a", at: .utility, for: "queue") { turns[$0] ?? [] }
        }
        #expect(refused?.links.map(\.waiter) == ["a", "b", "c"])
        #expect(refused?.links.map(\.cause) == ["queue", "once", "mutex"])
    }

    @Test("I5 every one that stands before an item has to get on, of the holders of a semaphore one")
    func allAndAny() throws {
        var graph = Graph()
        _ = graph.acquired("a", "semaphore")
        _ = graph.acquired("runs", "semaphore")
        let turns = ["barrier": ["runs", "c"]]
        // One share may come free.
        #expect(throws: Never.self) { try graph.waits("c", at: nil, for: "semaphore") { turns[$0] ?? [] } }
        #expect(throws: Never.self) { try graph.waits("a", at: nil, for: "barrier") { turns[$0] ?? [] } }
        // Now it could not: whoever runs would wait for one that waits for a share of its own.
        #expect(throws: WaitCycle<String, String>.self) {
            try graph.waits("runs", at: nil, for: "barrier") { turns[$0] ?? [] }
        }
    }

    @Test("I5 what nobody is known to stand before is never refused, nor what somebody unknown may end")
    func unknown() throws {
        var graph = Graph()
        _ = graph.acquired("a", "lock")
        #expect(throws: Never.self) { try graph.waits("a", at: nil, for: "queue") { _ in [] } }
        #expect(throws: Never.self) { try graph.waits("b", at: nil, for: "lock") { _ in [] } }
        var open = Graph()
        _ = open.acquired("a", "semaphore")
        _ = open.acquired("b", "mutex")
        _ = try open.waits("b", at: nil, for: "semaphore", mayBeFreedByOthers: true)
        #expect(throws: Never.self) { try open.waits("a", at: nil, for: "mutex") }
    }

    /// The rules, written down as slowly as they read.
    private struct Oracle {
        var holders: [Int: [Int]] = [:]
        var turns: [Int: [Int]] = [:]
        var waits: [Int: Int] = [:]

        func waitedFor(by party: Int, _ asking: (party: Int, resource: Int)) -> Int? {
            party == asking.party ? asking.resource : waits[party]
        }

        /// Whether a party can go on some day, by going round until nothing changes.
        func isHopeless(_ asking: (party: Int, resource: Int), parties: Int) -> Bool {
            var goesOn: Set<Int> = []
            while true {
                let more = (0..<parties).filter { party in
                    guard !goesOn.contains(party) else { return false }
                    guard let resource = waitedFor(by: party, asking) else { return true }
                    if let holders = holders[resource], !holders.isEmpty {
                        return holders.contains(where: goesOn.contains)
                    }
                    return (turns[resource] ?? []).allSatisfy(goesOn.contains)
                }
                if more.isEmpty { return !goesOn.contains(asking.party) }
                goesOn.formUnion(more)
            }
        }
    }

    @Test(
        "I5 a wait is refused exactly when nobody could ever end it: locks, shares and turns of queues",
        arguments: 0..<80)
    func random(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let (parties, locks, queues) = (
            Int.random(in: 2...10, using: &generator), Int.random(in: 1...5, using: &generator),
            Int.random(in: 1...5, using: &generator)
        )
        var graph = WaitGraph<Int, Int>()
        var oracle = Oracle()
        var refusals = 0
        for step in 0..<400 {
            let party = Int.random(in: 0..<parties, using: &generator)
            let lock = Int.random(in: 0..<locks, using: &generator)
            let queue = locks + Int.random(in: 0..<queues, using: &generator)
            switch Int.random(in: 0..<5, using: &generator) {
            case 0:
                // A queue goes on to other items, on other threads.
                oracle.turns[queue] = (0..<Int.random(in: 0...2, using: &generator)).map { _ in
                    Int.random(in: 0..<parties, using: &generator)
                }
            case 1 where oracle.waits[party] != nil:
                oracle.waits[party] = nil
                _ = graph.stoppedWaiting(party)
            case 2 where oracle.waits[party] == nil && (oracle.holders[lock]?.count ?? 0) < 1 + lock % 2:
                oracle.holders[lock, default: []].append(party)
                _ = graph.acquired(party, lock)
            case 3 where oracle.waits[party] == nil:
                if let place = oracle.holders[lock]?.firstIndex(of: party) {
                    oracle.holders[lock]?.remove(at: place)
                    _ = graph.released(party, lock)
                }
            default:
                guard oracle.waits[party] == nil else { continue }
                let resource = Bool.random(using: &generator) ? lock : queue
                let turns = oracle.turns
                let isHopeless = oracle.isHopeless((party, resource), parties: parties)
                do {
                    _ = try graph.waits(party, at: nil, for: resource) { turns[$0] ?? [] }
                    #expect(!isHopeless, "seed \(seed), step \(step)")
                    oracle.waits[party] = resource
                } catch {
                    refusals += 1
                    #expect(isHopeless, "seed \(seed), step \(step): \(error)")
                    #expect(error.links.first?.waiter == party)
                    for (link, next) in zip(error.links, error.links.dropFirst()) {
                        #expect(link.awaited == next.waiter)
                    }
                    for link in error.links {
                        #expect(oracle.waitedFor(by: link.waiter, (party, resource)) == link.cause)
                        let others = oracle.holders[link.cause].flatMap { $0.isEmpty ? nil : $0 }
                        #expect((others ?? turns[link.cause] ?? []).contains(link.awaited))
                    }
                    // The last one's way leads to a member again.
                    #expect(error.links.contains { $0.waiter == error.links.last?.awaited })
                }
            }
        }
        #expect(refusals > 0, "seed \(seed)")
    }
}
