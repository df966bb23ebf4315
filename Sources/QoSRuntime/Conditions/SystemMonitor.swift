public import QoSCore
import QoSKernel

/// Watches the state of the machine and the latency of requests, and governs a scheduler by it (rules S1 to S4).
///
/// ```swift
/// var configuration = SystemMonitor.Configuration()
/// configuration.latencyLimit = LatencyLimit(.milliseconds(50))
/// let monitor = try SystemMonitor(governing: scheduler, configuration: configuration)
///
/// for await conditions in monitor.conditionChanges {
///     print(conditions.thermal)    // nominal: x86_pkg_temp has 51 °C
/// }
/// ```
///
/// A thread of its own reads the machine once a second, and at once when the kernel reports pressure. The policy's
/// decision is applied by ``QoSScheduler/setWidthLimit(_:for:)``: a stopped class gets the limit 0, and a class with a
/// duty changes between 0 and its limit. The limits of file I/O go to ``Configuration/ioThrottle``. Background
/// activities, network operations and ``QoSScheduler/waitUntilPermitted(at:isDiscretionary:)`` wait for the permission
/// of discretionary work.
///
/// Use one monitor for each scheduler. Do not set limits for a governed class yourself. Keep the monitor: without a
/// reference it ends like ``stop()``.
///
/// Threading: any thread.
public final class SystemMonitor: Sendable {
    private let core: MonitorCore
    private let thread: MonitorThread?

    /// Makes a monitor and starts its thread.
    ///
    /// - Parameters:
    ///   - scheduler: the scheduler that is governed; `nil` only observes.
    ///   - configuration: the setup.
    /// - Throws: ``QoSRuntimeError`` when the configuration makes no sense, or when the system has no descriptor or
    ///   thread left.
    public convenience init(
        governing scheduler: QoSScheduler? = nil, configuration: Configuration = Configuration()
    ) throws(QoSRuntimeError) {
        try self.init(governing: scheduler, configuration: configuration, isDrivenByHand: false)
    }

    /// - Parameter isDrivenByHand: whether ``tick(at:)`` takes the place of the thread, for tests.
    package init(
        governing scheduler: QoSScheduler?, configuration: Configuration, isDrivenByHand: Bool
    ) throws(QoSRuntimeError) {
        try configuration.check()
        core = MonitorCore(configuration, governing: scheduler)
        thread = isDrivenByHand ? nil : try MonitorThread(core, governing: scheduler)
    }

    deinit { stop() }

    // MARK: Conditions

    /// The conditions at the last reading; unknown before the first one.
    public var conditions: SystemConditions { core.conditions.value }

    /// The present conditions and each later change, until the monitor ends. A slow task sees the newest ones.
    public var conditionChanges: AsyncStream<SystemConditions> { core.conditions.values() }

    /// Counts the latency of a request, for ``Configuration/latencyLimit``. Some nanoseconds.
    public func recordLatency(_ latency: Duration) {
        core.latencies.record(latency.clampedNanoseconds)
    }

    /// Runs the body of a request and counts its latency, also when it throws.
    public nonisolated(nonsending) func measuringLatency<Success, Failure: Error>(
        _ body: () async throws(Failure) -> Success
    ) async throws(Failure) -> Success {
        let start = MonotonicClock.nanoseconds()
        defer { core.latencies.record(MonotonicClock.nanoseconds() - start) }
        return try await body()
    }

    /// A source that does not answer.
    public struct BlockedSource: Sendable, Hashable, Codable {
        /// The name: `the thermal sensors`.
        public let name: String
        /// The time since the read of the source began.
        public let duration: Duration
    }

    /// The sources that do not answer, such as sensors behind a broken bus. Their conditions count as unknown, and the
    /// others are read without them.
    public var blockedSources: [BlockedSource] {
        (core.reader?.blocked ?? []).map { BlockedSource(name: $0.name, duration: .nanoseconds($0.nanoseconds)) }
    }

    // MARK: Decisions

    /// The allowances in force.
    public var decision: GovernorDecision { core.decisions.value }

    /// The present decision and each later one, until the monitor ends. A slow task sees the newest one.
    public var decisionChanges: AsyncStream<GovernorDecision> { core.decisions.values() }

    /// Returns whether work of a class may run now.
    ///
    /// - Parameters:
    ///   - qosClass: the class of the work.
    ///   - isDiscretionary: whether the work can wait: prefetching, clean-up, remote copies.
    public func permits(_ qosClass: QoSClass, isDiscretionary: Bool = false) -> Bool {
        decision.permits(qosClass, isDiscretionary: isDiscretionary)
    }

    // MARK: Control

    /// Switches low-power mode on or off by hand (rule S3). Its other reasons stay.
    public func setLowPowerMode(_ isOn: Bool) {
        core.update { $0.power.isRequested = isOn }
        thread?.wake()
    }

    /// The simulated states, which take the place of observed ones, and of those in
    /// ``Configuration/simulationFile``. Setting them reads the machine at once.
    public var overrides: ConditionOverrides {
        get { core.overrides }
        set {
            core.update { $0.overrides = newValue }
            thread?.wake()
        }
    }

    /// The reason why a part of ``Configuration/simulationFile`` does not count; `nil` if all of it does.
    public var simulationProblem: String? { core.simulationProblem }

    /// Ends the monitor. Its thread lifts the limits that it has set, a moment later. Any number of times.
    public func stop() {
        guard let thread else { return core.end() }
        thread.stop()
    }

    // MARK: Tests

    /// Does a reading at a time. Only for a monitor that is driven by hand.
    package func tick(at now: SchedulerInstant) {
        core.tick(at: now)
    }

    /// Applies the duties at a time. Only for a monitor that is driven by hand.
    package func tickDuty(at now: SchedulerInstant) {
        core.applyWidths(at: now)
    }
}
