import QoSKernel
import QoSTesting
import Synchronization
import Testing

@Suite("A parker under load", .tags(.kernel, .slow))
struct ParkerStressTests {
    @Test("loses no token between two threads that hand one to each other", arguments: [false, true])
    func pingPong(withDeadline: Bool) throws {
        let rounds = 5_000
        let left = SharedParker()
        let right = SharedParker()
        let trace = PlainCounter()
        let thread = try Thread(name: "pong") {
            for _ in 0..<rounds {
                Self.park(right, withDeadline)
                trace.bump()
                left.parker.unpark()
            }
        }
        for _ in 0..<rounds {
            trace.bump()
            right.parker.unpark()
            Self.park(left, withDeadline)
        }
        try thread.join()
        #expect(trace.value == 2 * rounds)
    }

    @Test("wakes its owner for every message of many senders", arguments: [2, 8, 32])
    func manySenders(count: Int) throws {
        let each = 2_000
        let shared = SharedParker()
        let sent = SharedCounter()
        let owner = try Thread(name: "owner") {
            while sent.value < count * each { shared.parker.park() }
        }
        var senders = Threads()
        for number in 0..<count {
            try senders.start(name: "sender-\(number)") {
                for _ in 0..<each {
                    sent.add()
                    shared.parker.unpark()
                }
            }
        }
        try senders.join()
        try owner.join()
        #expect(sent.value == count * each)
    }

    @Test("decides between a token and a deadline that come together, and neither loses nor doubles a token")
    func deadlineRace() throws {
        let seed = UInt64.random(in: .min ... .max)
        print("seed \(seed)")
        let rounds = 3_000
        let shared = SharedParker()
        let go = SharedParker()
        let thread = try Thread(name: "racer") {
            for _ in 0..<rounds {
                go.parker.park()
                shared.parker.unpark()
            }
        }
        var random = SeededGenerator(seed: seed)
        var taken = 0
        for _ in 0..<rounds {
            go.parker.unpark()
            let deadline = MonotonicClock.nanoseconds() + random.next() % 60_000
            if !shared.parker.park(untilNanoseconds: deadline) { shared.parker.park() }
            taken += 1
        }
        try thread.join()
        #expect(taken == rounds)
        #expect(shared.parker.park(untilNanoseconds: 0) == false, "a token was doubled")
    }

    private static func park(_ shared: SharedParker, _ withDeadline: Bool) {
        guard withDeadline else { return shared.parker.park() }
        while !shared.parker.park(untilNanoseconds: MonotonicClock.nanoseconds() + 50_000) {}
    }
}

/// A counter without any synchronisation of its own: the parkers order the accesses, and ThreadSanitizer checks it.
private final class PlainCounter: Sendable {
    // SAFETY: only the thread that took the token touches it; that this is so is what the test is about.
    private nonisolated(unsafe) var count = 0

    var value: Int { unsafe count }

    func bump() { unsafe count += 1 }
}

/// A counter for many threads.
private final class SharedCounter: Sendable {
    private let count = Atomic<Int>(0)

    var value: Int { count.load(ordering: .acquiring) }

    func add() { count.add(1, ordering: .releasing) }
}
