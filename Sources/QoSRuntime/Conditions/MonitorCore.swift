import QoSCore
import QoSKernel

/// The part of a monitor that its thread drives: reads, decides, publishes and applies.
///
/// Threading: one thread calls ``tick(at:)``, ``applyWidths(at:)`` and ``end()``; any thread does the rest.
final class MonitorCore: Sendable {
    let configuration: SystemMonitor.Configuration
    let conditions = ValueBroadcast(SystemConditions())
    let decisions = ValueBroadcast(GovernorDecision())
    let latencies: LatencyRecorder

    /// The sources of the machine; `nil` where the configuration has one of its own.
    let reader: PatientSystemReader?

    private let requests = Lock(MonitorRequests())
    /// Taken out during a reading, so that the policy runs without a lock.
    private let state: Lock<MonitorState?>
    private let simulation = Lock<String?>(nil)
    private let widths = Lock(GovernedWidths())
    private let limits = Lock(GovernedIOLimits())
    private let scheduler: Lock<WeakScheduler>

    /// A scheduler that may end before its monitor.
    private struct WeakScheduler: Sendable {
        weak var scheduler: QoSScheduler?
    }

    init(_ configuration: SystemMonitor.Configuration, governing scheduler: QoSScheduler?) {
        self.configuration = configuration
        reader = configuration.makeReader()
        latencies = LatencyRecorder()
        state = Lock(MonitorState(configuration))
        self.scheduler = Lock(WeakScheduler(scheduler: scheduler))
        requests.withLock { $0.power.isConfigured = configuration.isLowPowerMode }
    }

    /// Changes the wishes or the simulated states. They count from the next tick on.
    func update(_ change: (inout MonitorRequests) -> Void) {
        requests.withLock { change(&$0) }
    }

    /// The simulated states that the program has set.
    var overrides: ConditionOverrides { requests.withLock { $0.overrides } }

    /// The reason why a part of the file of simulated states does not count.
    var simulationProblem: String? { simulation.withLock { $0 } }

    /// Reads the machine, and applies the decision. The monitor's thread.
    ///
    /// - Parameter triggered: the kinds of pressure that the kernel has just reported.
    func tick(at now: SchedulerInstant, triggered: Set<PressureKind> = []) {
        var readings = configuration.source?() ?? reader?.read() ?? SystemReadings()
        readings.triggered = triggered
        let taken = state.withLock { state -> MonitorState? in
            defer { state = nil }
            return state
        }
        guard var machines = taken else { return }
        let (found, decision) = machines.observe(readings, latencies.take(), currentRequests(), at: now)
        state.withLock { [machines] in $0 = machines }
        // The limits come first: a task that sees the conditions finds them applied.
        let isOther = decisions.value != decision
        applyWidths(of: decision, at: now)
        if isOther { decisions.publish(decision) }
        conditions.publish(found)
    }

    /// The wishes of the program, with the states in the file of simulated states.
    private func currentRequests() -> MonitorRequests {
        var current = requests.withLock { $0 }
        guard let path = configuration.simulationFile else { return current }
        let (found, problem) = SimulationFile.read(path)
        simulation.withLock { $0 = problem }
        var states = found
        states.merge(current.overrides)
        current.overrides = states
        return current
    }

    /// Applies the duty of the decision in force. The monitor's thread.
    ///
    /// - Returns: the next moment at which a duty changes a limit; `nil` if none does.
    @discardableResult
    func applyWidths(at now: SchedulerInstant) -> SchedulerInstant? {
        let decision = decisions.value
        applyWidths(of: decision, at: now)
        return GovernedWidths.nextChange(of: decision, after: now)
    }

    private func applyWidths(of decision: GovernorDecision, at now: SchedulerInstant) {
        guard let scheduler = scheduler.withLock({ $0.scheduler }) else { return }
        let processors = scheduler.core.group.width
        let changes = widths.withLock { $0.changes(to: decision, processors: processors, at: now) }
        for change in changes { scheduler.setWidthLimit(change.limit, for: change.qosClass) }
        scheduler.core.governed.publish(decision)
        guard let throttle = configuration.ioThrottle else { return }
        for change in limits.withLock({ $0.changes(to: decision) }) {
            throttle.setLimits(
                bytesPerSecond: change.bytesPerSecond, operationsPerSecond: change.operationsPerSecond,
                for: change.qosClass)
        }
    }

    /// Lifts the limits, and ends the sequences. The monitor's thread.
    func end() {
        applyWidths(of: GovernorDecision(), at: SchedulerInstant(nanoseconds: 0))
        conditions.finish()
        decisions.finish()
        reader?.end()
    }
}
