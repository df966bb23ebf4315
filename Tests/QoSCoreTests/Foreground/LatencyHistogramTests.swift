import QoSCore
import QoSTesting
import Testing

@Suite("The histogram of latencies")
struct LatencyHistogramTests {
    @Test("S4 the buckets cover the range without a gap, each at most a thirty-second wide")
    func buckets() {
        var start: UInt64 = 0
        for bucket in 0..<LatencyHistogram.bucketCount {
            let end = LatencyHistogram.longest(in: bucket)
            #expect(LatencyHistogram.bucket(of: start) == bucket)
            #expect(LatencyHistogram.bucket(of: end) == bucket)
            #expect(end - start <= start / 32, "bucket \(bucket)")
            start = end + 1
        }
        #expect(start == 1 << 36)
    }

    @Test("S4 what is beyond the range counts as the longest", arguments: [1 << 36, UInt64.max])
    func beyond(value: UInt64) {
        #expect(LatencyHistogram.bucket(of: value) == LatencyHistogram.bucketCount - 1)
    }

    @Test("S4 an empty histogram has no percentile; the odd shares are the ends")
    func ends() {
        var histogram = LatencyHistogram()
        #expect(histogram.percentile(0.5) == nil)
        histogram.record(3)
        histogram.record(7)
        #expect(histogram.percentile(-1) == 3 && histogram.percentile(0) == 3 && histogram.percentile(2) == 7)
    }

    @Test(
        "S4 a percentile is that of the sorted latencies, or at most a thirty-second above",
        arguments: 0..<16 as Range<UInt64>)
    func oracle(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var histogram = LatencyHistogram()
        var all: [UInt64] = []
        for _ in 0..<Int.random(in: 1...3000, using: &random) {
            let value = UInt64.random(in: 0..<(1 << UInt64.random(in: 0...36, using: &random)), using: &random)
            all.append(value)
            histogram.record(value)
        }
        all.sort()
        for share in [0.0, 0.01, 0.5, 0.9, 0.99, 0.999, 1] {
            let exact = all[max(0, Int((Double(all.count) * share).rounded(.up)) - 1)]
            let found = try #require(histogram.percentile(share))
            #expect(found >= exact && found <= exact + exact / 32, "seed \(seed), share \(share)")
        }
    }

    @Test("S4 merged histograms are one histogram")
    func merges() {
        var (left, right, both) = (LatencyHistogram(), LatencyHistogram(), LatencyHistogram())
        for value in 0..<1000 as Range<UInt64> {
            if value.isMultiple(of: 3) { left.record(value * value) } else { right.record(value * value) }
            both.record(value * value)
        }
        left.merge(right)
        #expect(left == both)
    }
}
