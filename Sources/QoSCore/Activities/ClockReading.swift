/// The clocks of the machine at one moment.
///
/// Two readings of the same boot are compared by the continuous clock, which no one sets. Readings of different boots
/// have only the wall clock in common.
package struct ClockReading: Sendable, Hashable, Codable {
    /// Nanoseconds since the boot, with the time in which the machine was suspended (CLOCK_BOOTTIME).
    package var continuous: Int64

    /// Nanoseconds since 1970 (CLOCK_REALTIME). It may be set back and forward.
    package var wall: Int64

    /// The identity of the boot. A value that is not stored may leave it empty.
    package var boot: String

    /// Makes a reading.
    package init(continuous: Int64, wall: Int64, boot: String = "") {
        self.continuous = continuous
        self.wall = wall
        self.boot = boot
    }
}
