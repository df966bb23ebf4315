import BenchCore
import Testing

@Suite struct StatisticsTests {
    @Test(
        "the median is the middle, or the mean of the middle two",
        arguments: [([3], 3), ([5, 1, 3], 3), ([4, 1, 3, 2], 2.5)] as [([Double], Double)])
    func median(values: [Double], expected: Double) {
        #expect(Statistics.median(values) == expected)
    }

    @Test(
        "a quantile is the smallest value that the share does not exceed",
        arguments: [(0.5, 50.0), (0.99, 99), (0.999, 100), (0, 1), (1, 100)])
    func quantile(share: Double, expected: Double) {
        #expect(Statistics.quantile((1...100).map(Double.init), share) == expected)
    }

    @Test("arrivals of a seed repeat, never go back, and come at the rate that was asked for")
    func arrivals() {
        var first = RandomArrivals(perSecond: 1000, seed: 7)
        var second = RandomArrivals(perSecond: 1000, seed: 7)
        var last: UInt64 = 0
        for _ in 0..<100_000 {
            let time = first.next()
            #expect(time == second.next())
            #expect(time >= last)
            last = time
        }
        // 100 s are expected; the standard deviation is 0.3 s.
        #expect(abs(Double(last) / 1e9 - 100) < 2)
    }
}
