import QoSCore
import QoSTesting
import Testing

@Suite("The holders of a lock")
struct LockHoldersTests {
    @Test("I2 shares are counted for each holder, whether they are few or many", arguments: 0..<20)
    func oracle(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let parties = (1...Int.random(in: 1...40, using: &generator)).map { LockParticipant.thread(UInt32($0)) }
        var (holders, expected) = (LockHolders(), [LockParticipant]())
        for step in 0..<600 {
            let party = parties[Int.random(in: 0..<parties.count, using: &generator)]
            // Many shares come in some phases, and nearly all go in others.
            if Int.random(in: 0..<10, using: &generator) < (step / 100 % 2 == 0 ? 7 : 2) {
                holders.append(party)
                expected.append(party)
            } else {
                holders.remove(party)
                if let place = expected.firstIndex(of: party) { expected.remove(at: place) }
            }
            let place = "seed \(seed), step \(step)"
            #expect(holders.isEmpty == expected.isEmpty, "\(place)")
            #expect(Set(holders.all) == Set(expected), "\(place)")
            #expect(holders.contains(party) == expected.contains(party), "\(place)")
            #expect(holders.first.map { expected.contains($0) } ?? expected.isEmpty, "\(place)")
        }
    }
}
