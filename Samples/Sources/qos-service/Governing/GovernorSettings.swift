internal import QoSCore

/// The settings of the governor.
struct GovernorSettings: Sendable, Equatable {
    /// Whether the state of the machine limits the indexing.
    var isOn = true
    /// The states that take the place of observed ones.
    var simulated = ConditionOverrides()
    /// A file of simulated states, which may change while the service runs; nil for none.
    var simulationFile: String?
    /// The latency that 99 of 100 quick searches should not exceed.
    var latencyLimit = Duration.milliseconds(100)
}
