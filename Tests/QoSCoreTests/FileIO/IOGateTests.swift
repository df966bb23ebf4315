import QoSTesting
import Testing

@testable import QoSCore

private func at(_ milliseconds: Int64) -> SchedulerInstant { SchedulerInstant(nanoseconds: milliseconds * 1_000_000) }

@Suite("S4 the gate of file I/O")
struct IOGateTests {
    @Test(
        "S4 a piece has at most a mebibyte, and never less than nothing", arguments: [0, 1, 4096, 1 << 20, 1 << 30, -1])
    func size(wanted: Int) {
        var gate = IOGate()
        guard case .begin(let piece) = gate.requested(.background, bytes: wanted, at: at(0)) else {
            Issue.record("an unrestrained piece waits")
            return
        }
        #expect(piece.bytes == min(max(0, wanted), 1 << 20))
    }

    @Test("S4 the pieces of a limited class are small, so that it is looked at often")
    func limitedSize() {
        var gate = IOGate()
        gate.setLimits(bytesPerSecond: 2 << 20, operationsPerSecond: nil, for: .utility, at: at(0))
        #expect(gate.restrains(.utility) && !gate.restrains(.default))
        #expect(
            gate.requested(.utility, bytes: 1 << 20, at: at(0))
                == .begin(.init(qosClass: .utility, bytes: 128 << 10, isAlone: false, readsAhead: false)))
        gate.setLimits(bytesPerSecond: 100, operationsPerSecond: nil, for: .utility, at: at(0))
        #expect(gate.limits(of: .utility).bytesPerSecond == 100)
    }

    @Test("S4 a low class between two requests of the foreground reads what it asks for, and nothing ahead")
    func readAhead() {
        var gate = IOGate()
        func readsAhead(_ qosClass: QoSClass, at time: Int64) -> Bool? {
            guard case .begin(let piece) = gate.requested(qosClass, bytes: 4096, at: at(time)) else { return nil }
            gate.ended(piece, at: at(time + 1))
            return piece.readsAhead
        }
        #expect(readsAhead(.background, at: 0) == true)
        #expect(readsAhead(.userInitiated, at: 10) == true)
        // The class is free again, but the next request may be near.
        #expect(readsAhead(.background, at: 1_000) == false && readsAhead(.utility, at: 1_000) == false)
        #expect(readsAhead(.default, at: 1_000) == true)
        #expect(readsAhead(.background, at: 10_011) == true)
    }

    @Test("S4 requests without data keep off, too, and then wait for no piece")
    func withoutData() {
        var gate = IOGate()
        for time in stride(from: 0, to: 200, by: 10) as StrideTo<Int64> {
            guard case .begin(let piece) = gate.requested(.userInitiated, bytes: 1, at: at(time)) else { continue }
            gate.ended(piece, at: at(time + 1))
            if time == 50 { #expect(gate.requested(.background, bytes: 0, at: at(51)) == .wait(until: at(100))) }
        }
        guard case .begin(let piece) = gate.requested(.background, bytes: 4096, at: at(191)), piece.isAlone else {
            Issue.record("beside the foreground a piece is alone")
            return
        }
        #expect(gate.requested(.background, bytes: 4096, at: at(191)) == .waitForChange)
        for _ in 0..<3 {
            #expect(
                gate.requested(.background, bytes: 0, at: at(191))
                    == .begin(.init(qosClass: .background, bytes: 0, isAlone: false, readsAhead: false)))
        }
        gate.ended(.init(qosClass: .background, bytes: 0, isAlone: false), at: at(192))
        #expect(gate.requested(.background, bytes: 4096, at: at(192)) == .waitForChange, "the piece is under way")
    }

    @Test("S4 operations have a limit of their own")
    func operations() {
        var gate = IOGate()
        gate.setLimits(bytesPerSecond: nil, operationsPerSecond: 10, for: .background, at: at(0))
        guard case .begin = gate.requested(.background, bytes: 1, at: at(0)) else {
            Issue.record("the first one waits")
            return
        }
        #expect(gate.requested(.background, bytes: 1, at: at(0)) == .wait(until: at(100)))
    }

    @Test("S4 a class that is stopped asks again when that changes")
    func stopped() {
        var gate = IOGate()
        gate.setLimits(bytesPerSecond: 0, operationsPerSecond: nil, for: .background, at: at(0))
        #expect(gate.requested(.background, bytes: 1, at: at(0)) == .waitForChange)
        gate.setLimits(bytesPerSecond: nil, operationsPerSecond: nil, for: .background, at: at(1))
        #expect(
            gate.requested(.background, bytes: 1, at: at(1))
                == .begin(.init(qosClass: .background, bytes: 1, isAlone: false)))
    }

    /// A foreground that reads every 2 ms, and background readers that always have work.
    @Test(
        "S4 C7 in random worlds the background keeps out of the way, and keeps its share",
        arguments: 0..<20 as Range<UInt64>)
    func worlds(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var gate = IOGate()
        var now: Int64 = 0
        let readers = Int.random(in: 1...8, using: &random)
        let gap = Int64.random(in: 1...20, using: &random) * 1_000_000
        var foreground: (piece: IOGate.Piece, end: Int64)?
        var nextRequest: Int64 = 0
        var low: [(piece: IOGate.Piece, begun: Int64, end: Int64)] = []
        var asksAgain: Int64 = 0
        var (busy, lastEnd, longest) = (Int64(0), Int64(0), Int64(0))
        while now < 3_000_000_000 {
            let instant = SchedulerInstant(nanoseconds: now)
            if let present = foreground, present.end <= now {
                gate.ended(present.piece, at: instant)
                foreground = nil
            }
            for piece in low where piece.end <= now {
                gate.ended(piece.piece, at: instant)
                if piece.piece.isAlone { busy += piece.end - piece.begun }
                lastEnd = now
                asksAgain = now
            }
            low.removeAll { $0.end <= now }
            if nextRequest <= now, foreground == nil {
                guard case .begin(let piece) = gate.requested(.userInitiated, bytes: 4096, at: instant) else {
                    Issue.record("the foreground waits, seed \(seed)")
                    return
                }
                foreground = (piece, now + Int64.random(in: 50_000...500_000, using: &random))
                nextRequest += gap
            }
            while low.count < readers, asksAgain <= now {
                switch gate.requested(.background, bytes: 1 << 20, at: instant) {
                case .begin(let piece):
                    // Nothing restrains it before the first request of the foreground.
                    #expect(piece.isAlone && piece.bytes <= 512 << 10, "seed \(seed)")
                    #expect(!low.contains { $0.piece.isAlone }, "two at a time, seed \(seed)")
                    longest = max(longest, now - lastEnd)
                    low.append((piece, now, now + Int64.random(in: 100_000...3_000_000, using: &random)))
                case .wait(let until):
                    #expect(until > instant, "seed \(seed)")
                    asksAgain = until.nanoseconds
                case .waitForChange: asksAgain = .max
                }
            }
            let events = [foreground?.end, nextRequest, asksAgain] + low.map { Optional($0.end) }
            now = max(now + 1, events.compactMap { $0 }.filter { $0 > now }.min() ?? .max)
        }
        #expect(longest <= 100_000_000, "seed \(seed)")
        #expect(Double(busy) / 2.9e9 > 0.95, "a share of \(Double(busy) / 2.9e9), seed \(seed)")
    }
}
