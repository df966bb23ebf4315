/// Computes the share of a part in its whole between two readings of counters.
package struct ShareMeter: Sendable {
    /// The shortest time between the two readings, in nanoseconds. Shorter ones give a coarse share.
    private static let shortest: Int64 = 500_000_000

    private struct Base: Sendable {
        let counters: SystemReadings.Counters
        let time: SchedulerInstant
    }

    private var base: Base?
    private var last: Double?

    package init() {}

    /// Takes a reading.
    ///
    /// - Returns: the share since an earlier reading, 0…1. `nil` before the second reading, and when a counter went
    ///   back. A reading soon after the last one repeats its share.
    package mutating func observe(_ counters: SystemReadings.Counters, at now: SchedulerInstant) -> Double? {
        guard let base else {
            self.base = Base(counters: counters, time: now)
            return nil
        }
        guard now >= base.time, counters.part >= base.counters.part, counters.whole >= base.counters.whole else {
            self.base = Base(counters: counters, time: now)
            last = nil
            return nil
        }
        guard base.time.advanced(byNanoseconds: Self.shortest) <= now else { return last }
        let part = counters.part - base.counters.part
        let whole = counters.whole - base.counters.whole
        self.base = Base(counters: counters, time: now)
        let share = whole == 0 ? 0 : min(1, Double(part) / Double(whole))
        last = share
        return share
    }

    /// Forgets the readings, because the source is missing.
    package mutating func forget() {
        base = nil
        last = nil
    }
}
