import QoSTesting
import Testing

@testable import QoSCore

@Suite("Counting levels")
struct LevelTallyTests {
    private static let levels: [QoSLevel?] =
        [nil]
        + QoSClass.allCases.flatMap { qosClass in
            RelativePriority.range.map { QoSLevel(qosClass, relativePriority: RelativePriority(clamping: $0)) }
        }

    @Test("every level has a code of its own, ordered as the levels are")
    func codes() {
        let codes = Self.levels.map { LevelCode($0) }
        #expect(codes == codes.sorted())
        #expect(Set(codes).count == LevelCode.count)
        #expect(codes.map(\.level) == Self.levels)
        for code in codes.dropFirst() { #expect(code.rank == code.level?.qosClass.rank) }
        #expect(LevelCode.none.rank == QoSClass.default.rank)
    }

    @Test("the highest is right after any additions and removals", arguments: [1, 2, 3] as [UInt64])
    func random(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var tally = LevelTally()
        var all: [LevelCode] = []
        for _ in 0..<5_000 {
            if all.isEmpty || Bool.random(using: &random) && all.count < 40 {
                let code = LevelCode(rawValue: UInt8.random(in: 0...80, using: &random))
                tally.add(code)
                all.append(code)
            } else {
                tally.remove(all.remove(at: Int.random(in: all.indices, using: &random)))
            }
            #expect(tally.highest == all.max() ?? .none, "seed \(seed)")
        }
    }
}
