import QoSCore
import QoSWorkloads
import Testing

@testable import qos_service

@Suite("The history of requests and runs")
struct HistoryTests {
    @Test("a percentile is at most an eighth too high, over the whole range")
    func percentiles() {
        for exponent in 0..<24 {
            for part in [1.0, 1.3, 1.99] {
                let wanted = part * Double(1 << exponent) / 1000
                var counts = LatencyCounts()
                counts.record(.milliseconds(1) * wanted)
                let found = counts.percentile(0.99) ?? 0
                #expect(found >= wanted * 0.999 && found <= wanted * 1.126, "\(wanted) ms: \(found)")
            }
        }
        var counts = LatencyCounts()
        #expect(counts.percentile(0.5) == nil)
        for _ in 0..<99 { counts.record(.milliseconds(1)) }
        counts.record(.milliseconds(100))
        #expect(counts.percentile(0.5)! < 1.2 && counts.percentile(0.99)! < 1.2 && counts.percentile(1)! > 99)
    }

    @Test("steps without requests have no point, old ones are dropped, and the one that goes on is not shown")
    func steps() {
        let start = ContinuousClock.now
        let history = RequestHistory(start: start)
        func time(_ step: Int) -> ContinuousClock.Instant { start + RequestHistory.step * step + .milliseconds(1) }
        history.record(.milliseconds(5), at: time(0))
        history.record(.milliseconds(7), at: time(3))
        #expect(history.points(at: time(3)).map(\.step) == [0])
        #expect(history.points(at: time(4)).map(\.step) == [0, 3])
        #expect(history.points(at: time(RequestHistory.length)).map(\.step) == [3])
        #expect(history.points(at: time(RequestHistory.length + 3)).isEmpty)
    }

    @Test("runs are kept from their begin to their end, with the class to which they were promoted")
    func runs() {
        let history = RunHistory()
        let first = WorkloadLease(item: .init(rawValue: 1), fence: 1)
        let second = WorkloadLease(item: .init(rawValue: 2), fence: 1)
        let start = ContinuousClock.now
        history.observe(.attemptBegan(first, "a", .background, attempt: 1))
        history.observe(.attemptBegan(second, "b", .utility, attempt: 1))
        history.observe(.attemptPromoted(first, "a", to: .userInitiated))
        history.observe(.attemptEnded(second, "b", .finished, .finished, after: .zero))
        let runs = history.runs(since: start - .seconds(1))
        #expect(runs.map(\.name) == ["a", "b"])
        #expect(runs.map(\.qosClass) == [.userInitiated, .utility])
        #expect(runs.map { $0.end == nil } == [true, false])
        #expect(history.runs(since: .now + .seconds(1)).map(\.name) == ["a"], "one that goes on is always shown")
        #expect(history.version == 4)
    }
}
