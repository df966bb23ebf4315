import QoSTesting
import Testing

@testable import QoSCore

private func at(_ milliseconds: Int64) -> SchedulerInstant { SchedulerInstant(nanoseconds: milliseconds * 1_000_000) }

@Suite("S4 token buckets")
struct TokenBucketTests {
    @Test("S4 without a rate nothing waits")
    func unlimited() {
        var bucket = TokenBucket()
        bucket.take(.max, at: at(0))
        #expect(bucket.nextStart(at: at(0)) == at(0))
    }

    @Test("S4 a rate of zero stops everything until it is lifted")
    func zero() {
        var bucket = TokenBucket()
        bucket.setRate(0, at: at(0))
        #expect(bucket.nextStart(at: at(0)) == nil)
        #expect(bucket.nextStart(at: at(3_600_000)) == nil)
        bucket.setRate(nil, at: at(3_600_000))
        #expect(bucket.nextStart(at: at(3_600_000)) == at(3_600_000))
    }

    @Test("S4 a request of any size begins, and the next one pays for it")
    func debt() throws {
        var bucket = TokenBucket()
        bucket.setRate(1000, at: at(0))
        #expect(bucket.nextStart(at: at(0)) == at(0))
        bucket.take(1100, at: at(0))
        let found = bucket.nextStart(at: at(0))
        let next = try #require(found)
        // A full bucket had 100, so 1001 tokens are missing.
        #expect(next == at(1001))
        #expect(bucket.nextStart(at: next) == next)
    }

    @Test("S4 an idle time gives no more than a tenth of a second's tokens")
    func noHoarding() {
        var bucket = TokenBucket()
        bucket.setRate(1000, at: at(0))
        bucket.take(100, at: at(0))
        #expect(bucket.nextStart(at: at(60_000)) == at(60_000))
        bucket.take(101, at: at(60_000))
        #expect(bucket.nextStart(at: at(60_000)) == at(60_002))
    }

    @Test("S4 a debt outlasts a change of the rate")
    func change() {
        var bucket = TokenBucket()
        bucket.setRate(1000, at: at(0))
        bucket.take(1100, at: at(0))
        bucket.setRate(10_000, at: at(0))
        #expect(bucket.nextStart(at: at(0)) == SchedulerInstant(nanoseconds: 100_100_000))
    }

    @Test("S4 a clock that stands still or goes back gives no tokens", arguments: [0, -50] as [Int64])
    func clock(moved: Int64) throws {
        var bucket = TokenBucket()
        bucket.setRate(1000, at: at(100))
        bucket.take(200, at: at(100))
        let next = bucket.nextStart(at: at(100 + moved))
        #expect(try #require(next) > at(100 + moved))
    }

    @Test("S4 over time the rate holds", arguments: [1, 25, 100, 8 << 20], [1, 7, 4096, 131_072])
    func rateHolds(rate: Int, size: Int) throws {
        var bucket = TokenBucket()
        var now = at(5)
        bucket.setRate(rate, at: now)
        let begin = now
        var taken = 0
        for _ in 0..<2_000 {
            let next = bucket.nextStart(at: now)
            now = try #require(next)
            bucket.take(size, at: now)
            taken += size
        }
        let seconds = Double(now.nanoseconds - begin.nanoseconds) / 1e9
        let most = Double(rate) * (seconds + 0.1) + Double(size) + 1
        #expect(Double(taken) <= most, "\(taken) in \(seconds) s")
        #expect(Double(taken) >= Double(rate) * seconds * 0.99, "\(taken) in \(seconds) s")
    }
}
