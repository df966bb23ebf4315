/// The numbers of all sources at one moment. Counters are those of the kernel, so that two readings give a rate.
package struct SystemReadings: Sendable, Equatable {
    /// A part of a whole, both counted since the machine started.
    package struct Counters: Sendable, Equatable {
        /// The counted part.
        package let part: UInt64
        /// The whole that the part belongs to.
        package let whole: UInt64

        package init(part: UInt64, whole: UInt64) {
            self.part = part
            self.whole = whole
        }
    }

    /// The time in which at least one thread waited for a resource.
    package struct Stall: Sendable, Equatable {
        /// Percent of the last 10 s, 0…100.
        package let average10: Double
        /// Microseconds since the machine started; `nil` where only the average is known.
        package let total: UInt64?
        /// The origin of the numbers, where it is not pressure stall information.
        package let standIn: String?

        package init(average10: Double, total: UInt64? = nil, standIn: String? = nil) {
            self.average10 = average10
            self.total = total
            self.standIn = standIn
        }
    }

    /// Free room of a whole, in bytes.
    package struct Room: Sendable, Equatable {
        package let free: UInt64
        package let whole: UInt64
        /// The place that has the least room: `the machine`, a control group, a file system.
        package let place: String

        package init(free: UInt64, whole: UInt64, place: String) {
            self.free = free
            self.whole = whole
            self.place = place
        }

        /// The free share, 0…1.
        package var share: Double { whole == 0 ? 1 : Double(min(free, whole)) / Double(whole) }
    }

    package var thermal = Reading<ThermalReading>.unknown("not read")
    package var power = Reading<PowerReading>.unknown("not read")
    package var cpu = Reading<Stall>.unknown("not read")
    package var memory = Reading<Stall>.unknown("not read")
    package var io = Reading<Stall>.unknown("not read")
    /// Ticks that the hypervisor took, of all ticks.
    package var steal = Reading<Counters>.unknown("not read")
    /// Periods in which the control group was throttled, of all periods.
    package var throttling = Reading<Counters>.unknown("not read")
    package var freeMemory = Reading<Room>.unknown("not read")
    package var freeDisk = Reading<Room>.unknown("not read")

    /// The kinds of which the kernel has just said that they reach their limit for ``PressureState/elevated``.
    package var triggered: Set<PressureKind> = []

    /// Makes readings without a known value.
    package init() {}
}
