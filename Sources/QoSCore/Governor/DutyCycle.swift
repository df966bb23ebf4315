/// The times at which a class with a duty below 1 takes jobs.
///
/// Each period begins with the time to run. All classes have the same periods, so they pause together.
package struct DutyCycle: Sendable, Hashable {
    /// The length of a period, in nanoseconds.
    package static let period: Int64 = 400_000_000

    private let running: Int64

    /// - Parameter duty: the share of the time to run, 0…1.
    package init(_ duty: Double) {
        running = duty.isNaN ? Self.period : Int64((min(1, max(0, duty)) * Double(Self.period)).rounded())
    }

    /// Whether the class takes jobs at a moment.
    package func isRunning(at now: SchedulerInstant) -> Bool { Self.place(of: now) < running }

    /// The next moment at which that changes; `nil` if it never does.
    package func nextChange(after now: SchedulerInstant) -> SchedulerInstant? {
        guard running > 0, running < Self.period else { return nil }
        let place = Self.place(of: now)
        return now.advanced(byNanoseconds: (place < running ? running : Self.period) - place)
    }

    private static func place(of now: SchedulerInstant) -> Int64 {
        let place = now.nanoseconds % period
        return place < 0 ? place + period : place
    }
}
