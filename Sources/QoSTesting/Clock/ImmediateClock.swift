internal import QoSKernel

/// A clock whose sleeps end at once. Its time is the latest deadline.
///
/// For a test that does not look at the time in between: a debounce, a delay before a message.
///
/// ```swift
/// let clock = ImmediateClock()
/// try await clock.sleep(for: .seconds(60))
/// print(clock.now.offset)      // 60.0 seconds
/// ```
///
/// A sleep yields once, so a loop of sleeps lets other tasks run. A loop that waits for a condition with such a clock
/// takes a processor until the condition holds.
///
/// Threading: any thread.
public final class ImmediateClock: Clock, Sendable {
    /// A time of the clock.
    public typealias Instant = VirtualClock.Instant

    private let time = Lock(Instant(offset: .zero))

    /// Makes a clock at time zero.
    public init() {}

    /// The latest deadline of a sleep.
    public var now: Instant { time.withLock { $0 } }

    /// The resolution: a nanosecond.
    public var minimumResolution: Duration { .nanoseconds(1) }

    /// Moves the clock to the deadline, unless its time is later already.
    ///
    /// - Throws: `CancellationError` if the task is cancelled. The clock then stands still.
    public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        try Task.checkCancellation()
        time.withLock { $0 = max($0, deadline) }
        await Task.yield()
    }
}

/// A clock that a test must not use: each use is a failure.
///
/// It shows that a path of the code takes no time. A use records an issue of the calling test. The sleep ends at once.
///
/// ```swift
/// let feature = Feature(clock: UnimplementedClock())    // the test expects no sleep
/// ```
///
/// Threading: any thread.
public struct UnimplementedClock: Clock, Sendable {
    /// A time of the clock.
    public typealias Instant = VirtualClock.Instant

    private let name: String
    private let onUse: @Sendable (String) -> Void

    /// Makes a clock whose uses are issues of Swift Testing.
    ///
    /// - Parameter name: The clock's name in the issues.
    public init(_ name: String = "UnimplementedClock") {
        self.init(name) { TestIssues.record($0) }
    }

    /// Makes a clock for another test library.
    ///
    /// - Parameters:
    ///   - name: The clock's name in the messages.
    ///   - onUse: Called with a message at each use, on the using thread. With XCTest: `{ XCTFail($0) }`.
    public init(_ name: String = "UnimplementedClock", onUse: @escaping @Sendable (String) -> Void) {
        self.name = name
        self.onUse = onUse
    }

    /// Time zero. A failure.
    public var now: Instant {
        onUse("\(name): the test expects that nothing asks for the time")
        return Instant(offset: .zero)
    }

    /// The resolution: a nanosecond. No failure.
    public var minimumResolution: Duration { .nanoseconds(1) }

    /// Returns at once. A failure.
    public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        onUse("\(name): the test expects that nothing sleeps, and a task sleeps until \(deadline.offset)")
        try Task.checkCancellation()
    }
}
