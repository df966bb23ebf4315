/// A state that rises after a time above its threshold, and falls after a time below a lower one.
///
/// Each observation has two judgements. `rising` is the state by the thresholds for a rise. `falling` is the state by
/// the lower thresholds for a fall, so it is never below `rising`. In between, the state stays.
///
/// - Complexity: O(1) an observation; nothing allocates.
package struct Hysteresis<State: Comparable & Sendable>: Sendable {
    /// A change that has not lasted for long enough.
    private struct Pending: Sendable {
        var state: State
        let since: SchedulerInstant
    }

    /// The present state.
    package private(set) var state: State

    private let riseAfter: Int64
    private let fallAfter: Int64
    private var rise: Pending?
    private var fall: Pending?

    /// - Parameters:
    ///   - state: the state at the start.
    ///   - riseAfter: the time for which a higher state must last; zero rises at once.
    ///   - fallAfter: the time for which a lower state must last.
    package init(_ state: State, riseAfter: Duration = .zero, fallAfter: Duration) {
        self.state = state
        self.riseAfter = max(0, riseAfter.schedulerNanoseconds)
        self.fallAfter = max(0, fallAfter.schedulerNanoseconds)
    }

    /// Takes an observation, and returns the state after it.
    ///
    /// The state rises to the lowest state that was exceeded all the time, and falls to the highest one. A clock that
    /// goes back makes the pending change wait for longer.
    ///
    /// - Parameters:
    ///   - rising: the state by the thresholds for a rise.
    ///   - falling: the state by the thresholds for a fall; less than `rising` counts as `rising`.
    ///   - now: the time of the observation.
    @discardableResult
    package mutating func observe(rising: State, falling: State, at now: SchedulerInstant) -> State {
        let falling = max(rising, falling)
        if rising > state {
            fall = nil
            let since = rise?.since ?? now
            let lasting = rise.map { min($0.state, rising) } ?? rising
            rise = Pending(state: lasting, since: since)
            if since.advanced(byNanoseconds: riseAfter) <= now {
                state = lasting
                // A state above this one has to last for a time of its own.
                rise = rising > lasting ? Pending(state: rising, since: now) : nil
            }
        } else if falling < state {
            rise = nil
            let since = fall?.since ?? now
            let lasting = fall.map { max($0.state, falling) } ?? falling
            fall = Pending(state: lasting, since: since)
            if since.advanced(byNanoseconds: fallAfter) <= now {
                state = lasting
                fall = falling < lasting ? Pending(state: falling, since: now) : nil
            }
        } else {
            rise = nil
            fall = nil
        }
        return state
    }
}
