import QoSTesting
import Testing

@testable import QoSCore

@Suite("Who can never go on")
struct DeadlockedSetTests {
    private typealias Search = DeadlockedSet<Int, String>

    /// Parties that wait for all, or for some, of others.
    private struct World {
        var waits: [(awaited: [Int], needed: Int)] = []

        init(seed: UInt64) {
            var random = SeededGenerator(seed: seed)
            let count = Int.random(in: 1...12, using: &random)
            for _ in 0..<count {
                let awaited = (0..<Int.random(in: 0...3, using: &random)).map { _ in
                    Int.random(in: 0..<count, using: &random)
                }
                waits.append((awaited, awaited.isEmpty ? 0 : Int.random(in: 1...awaited.count, using: &random)))
            }
        }

        /// The rule word for word: again and again, each party goes on that has enough of those that go on.
        var stuck: Set<Int> {
            var free: Set<Int> = []
            while true {
                let more = waits.indices.filter { party in
                    !free.contains(party) && waits[party].awaited.count(where: free.contains) >= waits[party].needed
                }
                if more.isEmpty { return Set(waits.indices).subtracting(free) }
                free.formUnion(more)
            }
        }
    }

    @Test("I5 against the definition, and each circle is one of waits that there are, of those that never go on")
    func oracle() {
        var circles = 0
        for seed in UInt64(0)..<2000 {
            let world = World(seed: seed)
            let stuck = world.stuck
            for start in world.waits.indices {
                let search = Search(from: [start]) { party in
                    let (awaited, needed) = world.waits[party]
                    return .any(needed, of: awaited.map { ($0, "\(party)-\($0)") })
                }
                #expect(search.includes(start) == stuck.contains(start), "seed \(seed), from \(start)")
                for links in [search.circle(through: start), search.way(from: start)] where !links.isEmpty {
                    circles += 1
                    #expect(links.first?.waiter == start)
                    for (link, next) in zip(links, links.dropFirst()) { #expect(link.awaited == next.waiter) }
                    for link in links {
                        #expect(stuck.isSuperset(of: [link.waiter, link.awaited]), "seed \(seed)")
                        #expect(world.waits[link.waiter].awaited.contains(link.awaited), "seed \(seed)")
                        #expect(link.cause == "\(link.waiter)-\(link.awaited)")
                    }
                    #expect(links.contains { $0.waiter == links.last?.awaited }, "seed \(seed)")
                }
                #expect(search.way(from: start).isEmpty != stuck.contains(start))
            }
        }
        #expect(circles > 1000)
    }

    @Test("I5 a circle of 100 000 is found without recursion, and named as a whole")
    func long() {
        let search = Search(from: [0]) { .all([(($0 + 1) % 100_000, "next")]) }
        #expect(search.circle(through: 0).count == 100_000)
        #expect(search.circle(through: 0).last == .init(waiter: 99_999, awaited: 0, cause: "next"))
    }
}
