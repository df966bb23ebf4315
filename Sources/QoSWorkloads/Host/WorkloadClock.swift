internal import FoundationEssentials

/// The clocks of a host: that of the wall, and one that nobody sets.
public protocol WorkloadClock: Sendable {
    /// The time of the wall clock.
    var now: WallTime { get }

    /// The time since any fixed moment, with the time in which the machine was suspended. It never goes back.
    var elapsed: Duration { get }

    /// Suspends until ``elapsed`` has reached a time, or up to a tolerance later.
    ///
    /// - Throws: `CancellationError` as soon as the task is cancelled.
    func sleep(until time: Duration, tolerance: Duration) async throws
}

/// The clocks of the machine.
public struct SystemWorkloadClock: WorkloadClock {
    private static let start = ContinuousClock.now

    /// Makes the clocks.
    public init() {}

    /// The time of the wall clock.
    public var now: WallTime {
        WallTime(nanosecondsSince1970: Int64(Date().timeIntervalSince1970 * 1_000_000) * 1000)
    }

    /// The time since a fixed moment.
    public var elapsed: Duration { Self.start.duration(to: .now) }

    /// Suspends until a time.
    public func sleep(until time: Duration, tolerance: Duration) async throws {
        try await Task.sleep(until: Self.start.advanced(by: time), tolerance: tolerance, clock: .continuous)
    }
}
