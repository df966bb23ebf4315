import QoSTesting
import Testing

@testable import QoSCore

@Suite("A timer queue, against an oracle")
struct TimerQueueRandomTests {
    /// The same contract by linear search.
    struct Oracle {
        struct Timer {
            let deadline: UInt64
            let end: UInt64
            let payload: Int
        }

        /// In order of insertion.
        var timers: [Timer] = []

        var nextWake: UInt64? { timers.map(\.end).min() }
        var nextDeadline: UInt64? { timers.map(\.deadline).min() }

        mutating func insert(deadline: UInt64, tolerance: UInt64, _ payload: Int) {
            let end = tolerance > .max - deadline ? UInt64.max : deadline + tolerance
            timers.append(Timer(deadline: deadline, end: end, payload: payload))
        }

        mutating func cancel(payload: Int) -> Int? {
            guard let index = timers.firstIndex(where: { $0.payload == payload }) else { return nil }
            return timers.remove(at: index).payload
        }

        mutating func popExpired(now: UInt64) -> Int? {
            guard
                let first = timers.indices.filter({ timers[$0].deadline <= now })
                    .min(by: { (timers[$0].deadline, $0) < (timers[$1].deadline, $1) })
            else { return nil }
            return timers.remove(at: first).payload
        }
    }

    /// Fixed seeds, which found nothing, and a new one for each run.
    static let seeds: [UInt64] = [1, 2, 3, UInt64.random(in: 4...(.max))]

    @Test("S6 every answer is that of a linear search, whatever was inserted, cancelled and fired", arguments: seeds)
    func agreesWithTheOracle(seed: UInt64) throws {
        print("TimerQueueRandomTests seed \(seed)")
        var random = SeededGenerator(seed: seed)
        var queue = TimerQueue<Int>()
        var oracle = Oracle()
        var names: [TimerID] = []
        // Few different deadlines, so that ties are frequent; the bounds move, so that the queue grows and shrinks.
        for step in 0..<3000 {
            let range: UInt64 = step % 1000 < 500 ? 50 : 5000
            let now = UInt64.random(in: 0...range, using: &random)
            switch Int.random(in: 0..<100, using: &random) {
            case ..<(step % 1100 < 550 ? 60 : 35):
                let deadline = step % 97 == 0 ? UInt64.max - now : now
                let tolerance = UInt64.random(in: 0...range, using: &random)
                names.append(queue.insert(deadline: deadline, tolerance: tolerance, names.count))
                oracle.insert(deadline: deadline, tolerance: tolerance, names.count - 1)
            case ..<70 where !names.isEmpty:
                let index = Int.random(in: names.indices, using: &random)
                try #require(queue.cancel(names[index]) == oracle.cancel(payload: index), "seed \(seed), step \(step)")
            default:
                let limit = step % 5 == 0 ? now : now / 10
                try #require(
                    queue.popExpired(now: limit) == oracle.popExpired(now: limit), "seed \(seed), step \(step)")
            }
            try #require(queue.count == oracle.timers.count, "seed \(seed), step \(step)")
            try #require(queue.nextWake == oracle.nextWake, "seed \(seed), step \(step)")
            try #require(queue.nextDeadline == oracle.nextDeadline, "seed \(seed), step \(step)")
            if step % 16 == 0 {
                try #require(queue.heap.isConsistent, "seed \(seed), step \(step)")
            }
        }
        while let expected = oracle.popExpired(now: .max) {
            try #require(queue.popExpired(now: .max) == expected, "seed \(seed), drain")
        }
        #expect(queue.isEmpty)
    }
}
