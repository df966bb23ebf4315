import Glibc
import QoSKernel
import Testing

@Suite("The watch of pressure", .timeLimit(.minutes(5)))
struct PressureWatchTests {
    @Test("S4 a wake-up ends the wait, before it or during it; several count as one")
    func wakes() throws {
        let watch = try PressureWatch([:])
        watch.wake()
        watch.wake()
        #expect(watch.wait(until: .max) == PressureWatch.Outcome(isWoken: true))
        let thread = try Thread(name: "waker") { watch.wake() }
        #expect(watch.wait(until: .max).isWoken)
        try thread.join()
        #expect(watch.wait(until: 0) == PressureWatch.Outcome())
    }

    @Test("S4 without a wake-up the wait ends at its time, not before")
    func time() throws {
        let watch = try PressureWatch([:])
        let time = MonotonicClock.nanoseconds() + 3_300_000
        #expect(watch.wait(until: time) == PressureWatch.Outcome())
        #expect(MonotonicClock.nanoseconds() >= time)
    }

    @Test("S4 a resource without a trigger is named, and the wait works without it")
    func refused() throws {
        let tree = try MadeTree(["/proc/version": "x"])
        let watch = try PressureWatch([.memory: .milliseconds(100)], root: tree.root)
        #expect(watch.refusals[.memory]?.code == ENOENT)
        watch.wake()
        #expect(watch.wait(until: .max).isWoken)
    }
}
