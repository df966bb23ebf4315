import QoSCore
import Testing

@Suite("Random operation graphs")
struct RandomGraphTests {
    /// 400 graphs of up to 120 events, and 24 larger ones.
    static let smallSeeds: Range<UInt64> = 0..<400
    static let largeSeeds: Range<UInt64> = 1000..<1024

    @Test(
        "Q1 Q2 Q3 Q4 Q5 O1 O3 O4 O5 O6 O7 O9 O10 O11 small graphs agree with the oracle after every event",
        arguments: smallSeeds)
    func small(seed: UInt64) throws {
        var pair = GraphPair(seed: seed, queues: 2)
        for _ in 0..<120 { try pair.step() }
    }

    @Test(
        "Q1 Q2 Q3 Q4 Q5 O1 O3 O4 O5 O6 O7 O9 O10 O11 larger graphs agree with the oracle after every event",
        arguments: largeSeeds)
    func large(seed: UInt64) throws {
        var pair = GraphPair(seed: seed, queues: 4)
        for _ in 0..<900 { try pair.step() }
    }

    @Test("The random graphs reach every rule")
    func coverage() throws {
        var reached: [GraphPair.Event: Int] = [:]
        var (raised, cycles, ended) = (0, 0, 0)
        for seed in Self.largeSeeds {
            var pair = GraphPair(seed: seed, queues: 4)
            for _ in 0..<900 { try pair.step() }
            reached.merge(pair.reached, uniquingKeysWith: +)
            raised += pair.raised
            cycles += pair.cycles
            ended += pair.ended
        }
        for event in GraphPair.Event.allCases { #expect(reached[event, default: 0] > 20, "\(event)") }
        #expect(raised > 1000)
        #expect(cycles > 100)
        #expect(ended > 100)
    }
}
