import QoSTesting
import Testing

@testable import QoSRuntime

@Suite("How long the oldest job waits")
struct QueueAgeTests {
    @Test("nothing waits: no age; what comes counts from the look that saw it first")
    func simple() {
        var age = QueueAge()
        #expect(age.looked(taken: 0, waiting: 0, at: 10) == nil)
        #expect(age.looked(taken: 0, waiting: 3, at: 20) == 20)
        #expect(age.looked(taken: 0, waiting: 5, at: 30) == 20)
        #expect(age.looked(taken: 2, waiting: 3, at: 40) == 20)
        #expect(age.looked(taken: 3, waiting: 2, at: 50) == 30)
        #expect(age.looked(taken: 5, waiting: 0, at: 60) == nil)
        #expect(age.looked(taken: 5, waiting: 1, at: 70) == 70)
    }

    @Test(
        "against the times of a real queue: never younger than the look before, never older than it is",
        arguments: 1...20 as ClosedRange<UInt64>)
    func random(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var (queue, taken, now, age, lastLook) = ([UInt64](), UInt64(0), UInt64(1), QueueAge(), UInt64(0))
        for step in 0..<60 {
            for _ in 0..<Int.random(in: 0..<20, using: &random) {
                now += UInt64.random(in: 1...5, using: &random)
                if Bool.random(using: &random) {
                    queue.append(now)
                } else if !queue.isEmpty {
                    queue.removeFirst()
                    taken += 1
                }
            }
            now += 1
            let since = age.looked(taken: taken, waiting: queue.count, at: now)
            #expect((since == nil) == queue.isEmpty, "seed \(seed), step \(step)")
            if let since, let oldest = queue.first {
                #expect(since >= oldest, "seed \(seed), step \(step)")
                // What was there at the look before is not seen younger than that.
                if oldest <= lastLook { #expect(since <= lastLook, "seed \(seed), step \(step)") }
            }
            lastLook = now
        }
    }

    @Test("a queue that only grows keeps the age of its first job, in bounded memory")
    func grows() {
        var age = QueueAge()
        for look in 1...10_000 as ClosedRange<UInt64> {
            #expect(age.looked(taken: 0, waiting: Int(look), at: look) == 1)
        }
        // Of the last half, something is still known.
        let since = age.looked(taken: 9_000, waiting: 1_000, at: 10_001)
        #expect(since.map { (8_500...9_001).contains($0) } == true, "\(since ?? 0)")
    }
}
