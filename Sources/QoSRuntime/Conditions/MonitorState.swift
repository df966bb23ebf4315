import QoSCore

/// The wishes of the program.
struct MonitorRequests: Sendable {
    /// The wishes for low-power mode.
    var power = PowerMachine.Wishes()

    /// The simulated states.
    var overrides = ConditionOverrides()
}

/// The machines of a monitor together: readings in, conditions and a decision out. A value; time is an argument.
struct MonitorState: Sendable {
    private var machine: ConditionMachine
    private var foreground: ForegroundGuard?
    private var governor: GovernorMachine

    init(_ configuration: SystemMonitor.Configuration) {
        machine = ConditionMachine(lowBattery: configuration.lowBatteryLevel)
        foreground = configuration.latencyLimit.map(ForegroundGuard.init)
        governor = GovernorMachine(policy: configuration.policy)
    }

    /// Takes the readings of a moment.
    mutating func observe(
        _ readings: SystemReadings, _ latencies: LatencyHistogram, _ requests: MonitorRequests,
        at now: SchedulerInstant
    ) -> (conditions: SystemConditions, decision: GovernorDecision) {
        var conditions = machine.observe(readings, wishes: requests.power, at: now)
        conditions.foreground =
            foreground?.observe(latencies, at: now)
            ?? Condition(.nominal, because: "no limit of latencies is configured", isKnown: false)
        conditions = requests.overrides.applied(to: conditions)
        return (conditions, governor.observe(conditions, at: now))
    }
}
