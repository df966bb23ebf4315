import QoSKernel
import Testing

@Suite("The monotonic clock")
struct MonotonicClockTests {
    @Test("never goes back")
    func neverGoesBack() {
        var last = MonotonicClock.nanoseconds()
        for _ in 0..<100_000 {
            let now = MonotonicClock.nanoseconds()
            #expect(now >= last)
            last = now
        }
    }

    @Test("agrees with the standard library's continuous order of events across threads")
    func agreesAcrossThreads() throws {
        let before = MonotonicClock.nanoseconds()
        let inside = try onThread { MonotonicClock.nanoseconds() }
        let after = MonotonicClock.nanoseconds()
        #expect(before <= inside)
        #expect(inside <= after)
    }
}
