internal import QoSKernel
public import QoSTesting
public import QoSWorkloads

/// The clocks of a host in virtual time. The wall clock can be set, as an administrator or a time server would.
public final class VirtualWorkloadClock: WorkloadClock {
    /// The clock that moves both.
    public let clock: VirtualClock

    private let wallAtStart: Lock<WallTime>

    /// Makes clocks that follow a virtual one.
    ///
    /// - Parameters:
    ///   - clock: the virtual clock, for example that of a `DeterministicScheduler`.
    ///   - start: the wall-clock time at the virtual clock's zero.
    public init(_ clock: VirtualClock, start: WallTime = WallTime(secondsSince1970: 1_800_000_000)) {
        self.clock = clock
        wallAtStart = Lock(start)
    }

    /// The time of the wall clock.
    public var now: WallTime { wallAtStart.withLock { $0 }.advanced(by: clock.now.offset) }

    /// The time since a fixed moment.
    public var elapsed: Duration { clock.now.offset }

    /// Suspends until a time.
    public func sleep(until time: Duration, tolerance: Duration) async throws {
        var deadline = VirtualClock.Instant(offset: time)
        // The clock counts nanoseconds, and never wakes early.
        if deadline.offset < time { deadline = deadline.advanced(by: .nanoseconds(1)) }
        try await clock.sleep(until: deadline, tolerance: tolerance)
    }

    /// Sets the wall clock forward, or back for a negative duration. The other clock is not affected.
    public func setWall(by duration: Duration) {
        wallAtStart.withLock { $0 = $0.advanced(by: duration) }
    }
}
