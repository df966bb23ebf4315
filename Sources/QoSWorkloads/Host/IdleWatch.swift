/// The time for which the machine has been idle.
///
/// A value. Times are those of a monotonic clock, so a clock that is set ends nothing.
struct IdleWatch: Sendable {
    private enum State: Sendable {
        case unknown
        /// The machine has work, for this reason.
        case busy(String)
        /// The machine has been idle since this moment.
        case idle(since: Duration, WallTime)
    }

    private var state = State.unknown

    /// Notes a look at the machine.
    ///
    /// - Parameters:
    ///   - work: the reason for which the machine is not idle; `nil` if it is.
    ///   - now: the monotonic time.
    ///   - wall: the same moment on the wall clock, for people.
    mutating func looked(work: String?, at now: Duration, _ wall: WallTime) {
        switch (state, work) {
        case (_, let work?): state = .busy(work)
        case (.idle, nil): break
        case (.unknown, nil), (.busy, nil): state = .idle(since: now, wall)
        }
    }

    /// Judges whether the machine has been idle for long enough. The reason stays the same while the machine is idle.
    func verdict(for length: Duration, at now: Duration) -> ConditionVerdict {
        switch state {
        case .unknown: .unmet("the machine was not looked at yet")
        case .busy(let work): .unmet("the machine is not idle: \(work)")
        case .idle(let since, _) where now - since >= length: .met
        case .idle(_, let wall): .unmet("the machine is idle since \(wall), and not for \(length) yet")
        }
    }

    /// Returns the time at which the machine will have been idle for long enough; `nil` if only a look can tell.
    func next(for length: Duration, after now: Duration) -> Duration? {
        guard case .idle(let since, _) = state, since + length > now else { return nil }
        return since + length
    }
}
