import QoSCore
import Testing

@Suite("The guard of the foreground")
struct ForegroundGuardTests {
    private let limit = LatencyLimit(.milliseconds(10), minimumCount: 20, recovery: .seconds(3))

    private func latencies(_ count: Int, milliseconds: Double) -> LatencyHistogram {
        var histogram = LatencyHistogram()
        for _ in 0..<count { histogram.record(UInt64(milliseconds * 1_000_000)) }
        return histogram
    }

    @Test("S4 slow requests are reported at once, with percentile, number and limit")
    func reports() {
        var guardian = ForegroundGuard(limit)
        #expect(guardian.observe(latencies(50, milliseconds: 1), at: second(0)).state == .nominal)
        let found = guardian.observe(latencies(50, milliseconds: 20), at: second(1))
        #expect(found.state == .delayed && found.isKnown)
        #expect(found.reason.hasPrefix("99.0 % of 100 requests took at most 20."), "\(found.reason)")
        #expect(found.reason.hasSuffix("the limit is 0.01 seconds"), "\(found.reason)")
    }

    @Test("S4 one slow request in two hundred is none in a hundred")
    func keepsTheTail() {
        var guardian = ForegroundGuard(limit)
        var many = latencies(199, milliseconds: 1)
        many.merge(latencies(1, milliseconds: 1000))
        #expect(guardian.observe(many, at: second(0)).state == .nominal)
    }

    @Test("S4 too few requests are not judged")
    func few() {
        var guardian = ForegroundGuard(limit)
        let found = guardian.observe(latencies(19, milliseconds: 500), at: second(0))
        #expect(found.state == .nominal && !found.isKnown)
        #expect(guardian.observe(latencies(1, milliseconds: 500), at: second(1)).state == .delayed)
    }

    @Test("S4 it ends when requests were clearly below the limit for the recovery time")
    func recovers() {
        var guardian = ForegroundGuard(limit)
        var states: [ForegroundState] = []
        for time in 0..<20 {
            let milliseconds = time < 2 ? 20 : time < 8 ? 9 : 5.0
            states.append(guardian.observe(latencies(50, milliseconds: milliseconds), at: second(Double(time))).state)
        }
        // 9 ms are in the band; the last of them leaves the window of five seconds at 13 s.
        #expect(states.firstIndex(of: .nominal) == 16, "\(states)")
        #expect(states[16...].allSatisfy { $0 == .nominal })
    }

    @Test("S4 it ends when no requests come any more")
    func ends() {
        var guardian = ForegroundGuard(limit)
        _ = guardian.observe(latencies(50, milliseconds: 20), at: second(0))
        var end: Int?
        for time in 1..<20 where end == nil {
            if guardian.observe(LatencyHistogram(), at: second(Double(time))).state == .nominal { end = time }
        }
        #expect(end == 9)
    }
}
