import QoSTesting
import Testing

@Suite("The seeded generator")
struct SeededGeneratorTests {
    @Test("gives the numbers of the published algorithm")
    func knownNumbers() {
        var random = SeededGenerator(seed: 1_234_567)
        let numbers = (0..<5).map { _ in random.next() }
        #expect(
            numbers == [
                6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423,
                4_593_380_528_125_082_431, 16_408_922_859_458_223_821,
            ])
    }

    @Test("gives the same numbers for the same seed and others for the next one", arguments: [0, 1, .max] as [UInt64])
    func repeats(_ seed: UInt64) {
        var (first, second, other) = (
            SeededGenerator(seed: seed), SeededGenerator(seed: seed), SeededGenerator(seed: seed &+ 1)
        )
        let numbers = (0..<64).map { _ in first.next() }
        #expect(numbers == (0..<64).map { _ in second.next() })
        #expect(Set(numbers).isDisjoint(with: (0..<64).map { _ in other.next() }))
    }
}
