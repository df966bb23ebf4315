internal import Glibc
package import QoSCore

extension ClockReading {
    /// The clocks of this machine, without the identity of the boot. Some 50 ns; any thread. Source: clock_gettime(2).
    package static var current: ClockReading {
        ClockReading(continuous: nanoseconds(of: CLOCK_BOOTTIME), wall: nanoseconds(of: CLOCK_REALTIME))
    }

    private static func nanoseconds(of clock: clockid_t) -> Int64 {
        var time = timespec()
        unsafe clock_gettime(clock, &time)
        return time.clampedNanoseconds
    }
}
