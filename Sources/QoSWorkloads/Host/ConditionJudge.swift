internal import QoSKernel

/// Judges the conditions of a host's items: those of time by the host's clock, the others by its source.
///
/// It notes when a judgement will change by time alone, so that the host wakes then.
///
/// Threading: any thread.
final class ConditionJudge: Sendable {
    private struct State {
        var idle = IdleWatch()
        /// The monotonic time of the first change by time since ``ConditionJudge/takeNext()``.
        var next: Duration?
        /// Whether one of these changes goes by the wall clock.
        var followsWall = false
    }

    /// The readings that make a machine idle.
    private static let idleReadings: [WorkloadCondition] = [
        .foregroundInTime, .pressure(.cpu, below: .elevated), .pressure(.io, below: .elevated),
    ]

    private let source: any ConditionSource
    private let clock: any WorkloadClock
    private let state = Lock(State())

    init(_ source: any ConditionSource, _ clock: any WorkloadClock) {
        self.source = source
        self.clock = clock
    }

    /// Looks whether the machine is idle.
    func look() {
        let work = Self.idleReadings.lazy.compactMap { [source] condition -> String? in
            if case .unmet(let reason) = source.verdict(on: condition) { reason } else { nil }
        }.first
        let (now, wall) = (clock.elapsed, clock.now)
        state.withLock { $0.idle.looked(work: work, at: now, wall) }
    }

    /// Judges a condition.
    func verdict(on condition: WorkloadCondition) -> ConditionVerdict {
        switch condition {
        case .timeWindow(let window):
            let wall = clock.now
            if window.contains(wall) { return .met }
            let opening = window.nextChange(after: wall).map { "; it opens at \($0)" } ?? ""
            return .unmet("the time is outside of \(window)\(opening)")
        case .idle(let length):
            let now = clock.elapsed
            return state.withLock { $0.idle.verdict(for: length, at: now) }
        default:
            return source.verdict(on: condition)
        }
    }

    /// Judges a condition of an item that waits or runs, and notes when the judgement changes by time alone.
    func verdictNotingChange(on condition: WorkloadCondition) -> ConditionVerdict {
        switch condition {
        case .timeWindow(let window):
            let (now, wall) = (clock.elapsed, clock.now)
            let wait = window.nextChange(after: wall).map { wall.duration(to: $0) }
            state.withLock { state in
                // A window without a change soon is looked at when the host looks at the wall clock anyway.
                state.followsWall = true
                if let wait { state.next = min(state.next ?? now + wait, now + wait) }
            }
        case .idle(let length):
            let now = clock.elapsed
            state.withLock { state in
                guard let next = state.idle.next(for: length, after: now) else { return }
                state.next = min(state.next ?? next, next)
            }
        default: break
        }
        return verdict(on: condition)
    }

    /// Returns the first change that was noted since the last call, and whether the wall clock matters.
    func takeNext() -> (time: Duration?, followsWall: Bool) {
        state.withLock { state in
            defer { (state.next, state.followsWall) = (nil, false) }
            return (state.next, state.followsWall)
        }
    }
}
