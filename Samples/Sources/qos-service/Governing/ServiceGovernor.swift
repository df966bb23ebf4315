internal import QoSCore
internal import QoSRuntime

/// Follows the state of the machine and the latency of searches, and limits the indexing by them.
struct ServiceGovernor: Sendable {
    let monitor: SystemMonitor

    /// Makes a governor and starts its monitor.
    ///
    /// - Parameters:
    ///   - scheduler: The scheduler whose classes are limited.
    ///   - settings: The settings.
    ///   - folders: The folders whose file systems need free space.
    init(
        governing scheduler: QoSScheduler,
        _ settings: GovernorSettings,
        folders: [String]
    ) throws(QoSRuntimeError) {
        var configuration = SystemMonitor.Configuration()
        configuration.policy = ServicePolicy()
        configuration.latencyLimit = LatencyLimit(settings.latencyLimit)
        configuration.fileSystems = folders
        configuration.simulationFile = settings.simulationFile
        monitor = try SystemMonitor(governing: scheduler, configuration: configuration)
        monitor.overrides = settings.simulated
    }

    /// The limits of the indexing and their reasons, for people; nil without a limit.
    var limit: String? {
        let allowance = monitor.decision[.background]
        guard !allowance.isUnlimited else { return nil }
        return "\(allowance) (\(allowance.reasons.joined(separator: "; ")))"
    }
}
