internal import QoSCore
internal import QoSKernel
internal import QoSRuntime

/// A deterministic scheduler as the surroundings of background activities.
final class VirtualActivityHost: ActivityHost {
    private struct State: Sendable {
        var conditions = SystemConditions()
        var events: [BackgroundActivityEvent] = []
        var wallOffset: Int64 = 0
        var hasEnded = false
        var changed: (@Sendable () -> Void)?
        var ended: (@Sendable () -> Void)?
    }

    private let scheduler: DeterministicScheduler
    private let policy: any GovernorPolicy
    private let state = Lock(State())

    init(_ scheduler: DeterministicScheduler, _ policy: any GovernorPolicy) {
        self.scheduler = scheduler
        self.policy = policy
    }

    var events: [BackgroundActivityEvent] { state.withLock { $0.events } }

    var clocks: ClockReading {
        let now = Int64(clamping: scheduler.now.nanoseconds)
        return ClockReading(continuous: now, wall: now + state.withLock { $0.wallOffset })
    }

    var surroundings: (conditions: SystemConditions, decision: GovernorDecision) {
        let conditions = state.withLock { $0.conditions }
        return (conditions, policy.decision(for: conditions).clamped())
    }

    func set(_ conditions: SystemConditions) {
        let changed = state.withLock { state in
            state.conditions = conditions
            return state.changed
        }
        changed?()
    }

    func setWallClock(by duration: Duration) {
        state.withLock { $0.wallOffset += duration.schedulerNanoseconds }
    }

    func end() {
        let ended = state.withLock { state in
            state.hasEnded = true
            return state.ended
        }
        ended?()
    }

    func wake(afterNanoseconds nanoseconds: UInt64, tolerance: UInt64, _ body: @escaping @Sendable () -> Void) {
        let deadline = scheduler.now.nanoseconds.addingReportingOverflow(nanoseconds)
        let window = TimerWindow(
            deadline: deadline.overflow ? .max : deadline.partialValue, tolerance: tolerance, isPrompt: false)
        scheduler.clock.call(within: window) { [weak self] in
            if self?.state.withLock({ $0.hasEnded }) == false { body() }
        }
    }

    func startTask(
        at qosClass: QoSClass, name: String, _ body: @escaping @Sendable () async -> Void
    ) -> Task<Void, Never> {
        scheduler.startDetachedTask(at: qosClass, label: name.first, body)
    }

    func report(_ event: BackgroundActivityEvent) {
        state.withLock { $0.events.append(event) }
    }

    func watch(
        changed: @escaping @Sendable () -> Void, ended: @escaping @Sendable () -> Void
    ) -> any ActivityWatch {
        state.withLock { ($0.changed, $0.ended) = (changed, ended) }
        return Watch(host: self)
    }

    private func stopWatching() {
        state.withLock { ($0.changed, $0.ended) = (nil, nil) }
    }

    private struct Watch: ActivityWatch {
        weak let host: VirtualActivityHost?

        func cancel() {
            host?.stopWatching()
        }
    }
}
