internal import QoSCore
internal import QoSKernel

/// A clock that stands still until a test moves it.
///
/// ```swift
/// let clock = VirtualClock()
/// let task = Task { try await clock.sleep(for: .seconds(60)) }
/// await clock.waitForSleepers(1)
/// clock.advance(by: .seconds(60))
/// try await task.value
/// ```
///
/// Sleepers wake in the order of their deadlines, those with the same deadline in the order of arrival. A sleeper wakes
/// at the end of its window. It wakes earlier together with another one, or at the end of an ``advance(by:)``, but
/// never before its deadline. Without a tolerance the deadline is the end of the window.
///
/// After ``advance(by:)`` the woken tasks run on their own executors, so they may not have run yet. On a
/// ``DeterministicScheduler``, whose ``DeterministicScheduler/clock`` moves with it, they have.
///
/// Threading: any thread.
public final class VirtualClock: Clock, Sendable {
    /// A time of a virtual clock.
    public struct Instant: InstantProtocol, Sendable {
        /// Nanoseconds since the clock was made.
        package let nanoseconds: UInt64

        /// Makes the time that is a number of nanoseconds after the clock was made.
        package init(nanoseconds: UInt64) {
            self.nanoseconds = nanoseconds
        }

        /// Makes the time that is a duration after the clock was made. A duration below zero counts as zero.
        public init(offset: Duration) {
            nanoseconds = UInt64(clamping: offset.schedulerNanoseconds)
        }

        /// The time since the clock was made.
        public var offset: Duration { .nanoseconds(Int64(clamping: nanoseconds)) }

        /// Returns the time that is a duration later: at most 584 years after the clock was made, and not before that.
        public func advanced(by duration: Duration) -> Instant {
            let delta = duration.schedulerNanoseconds
            let (sum, isBeyond) = nanoseconds.addingReportingOverflow(UInt64(clamping: delta))
            if delta >= 0 { return Instant(nanoseconds: isBeyond ? .max : sum) }
            return Instant(nanoseconds: nanoseconds - min(nanoseconds, delta.magnitude))
        }

        /// Returns the duration from this time to another one.
        public func duration(to other: Instant) -> Duration { other.offset - offset }

        /// Orders by time.
        public static func < (left: Instant, right: Instant) -> Bool { left.nanoseconds < right.nanoseconds }
    }

    private let state = Lock(VirtualClockState())

    /// Makes a clock at time zero, without sleepers.
    public init() {}

    /// The time.
    public var now: Instant { Instant(nanoseconds: state.withLock { $0.now }) }

    /// The resolution: a nanosecond.
    public var minimumResolution: Duration { .nanoseconds(1) }

    /// The number of sleepers.
    public var sleepers: Int { state.withLock { $0.sleepers } }

    /// The time at which the next sleeper must wake, at the end of its window; `nil` without sleepers.
    public var nextWake: Instant? { state.withLock { $0.nextWake }.map(Instant.init) }

    /// Suspends the task until the clock has been moved to a deadline.
    ///
    /// - Parameters:
    ///   - deadline: The time to wake; a past time wakes at once.
    ///   - tolerance: The time by which it may wake later; `nil` means zero.
    /// - Throws: `CancellationError` as soon as the task is cancelled.
    public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        let sleeper = state.withLock { $0.register() }
        let isWoken = try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let answer = state.withLock {
                    $0.sleeps(
                        sleeper, until: deadline.nanoseconds,
                        tolerance: UInt64(clamping: tolerance?.schedulerNanoseconds ?? 0), continuation)
                }
                switch answer {
                case .waits(let observers): for observer in observers { observer.resume() }
                case .isPast: continuation.resume(returning: false)
                case .wasCancelled: continuation.resume(throwing: CancellationError())
                }
            }
        } onCancel: {
            let continuation = state.withLock { $0.cancelled(sleeper) }
            continuation?.resume(throwing: CancellationError())
        }
        if isWoken { state.withLock { $0.goesOn() } }
    }

    /// The number of sleepers that were woken and whose tasks have not gone on yet.
    var wakes: Int { state.withLock { $0.wakes } }

    /// Moves the clock forward and wakes the due sleepers in order.
    ///
    /// The clock shows each sleeper's time while that sleeper is woken. A duration below zero counts as zero.
    public func advance(by duration: Duration) {
        advance(to: now.advanced(by: duration))
    }

    /// Moves the clock forward to a time; see ``advance(by:)``. A past time changes nothing.
    public func advance(to time: Instant) {
        while let due = state.withLock({ $0.advance(to: time.nanoseconds) }) {
            switch due {
            case .sleeper(let continuation): continuation.resume(returning: true)
            case .action(let action): action()
            }
        }
    }

    /// Suspends the task until at least a number of sleepers wait at the same time. It ignores cancellation.
    public func waitForSleepers(_ count: Int) async {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { $0.observes(count: count, continuation) }
            if isThere { continuation.resume() }
        }
    }

    /// Calls a body when the clock is moved into a window. The call counts as a sleeper.
    func call(within window: TimerWindow, _ body: @escaping @Sendable () -> Void) {
        let observers = state.withLock { $0.calls(within: window, body) }
        for observer in observers { observer.resume() }
    }
}
