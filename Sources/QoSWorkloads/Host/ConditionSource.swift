internal import QoSCore
public import QoSRuntime

/// The judge of the conditions of a host's items.
public protocol ConditionSource: Sendable {
    /// Judges a condition now. The call is quick.
    func verdict(on condition: WorkloadCondition) -> ConditionVerdict

    /// Returns a stream with an element after changes. Each call returns a stream of its own.
    func changes() -> AsyncStream<Void>
}

/// The conditions of the machine, as a monitor sees them, and those that the program names.
public struct MonitoredConditions: ConditionSource {
    private let monitor: SystemMonitor?
    private let named: @Sendable (String) -> ConditionVerdict?

    /// Makes a source.
    ///
    /// - Parameters:
    ///   - monitor: the monitor; without one, the machine counts as nominal.
    ///   - named: judges ``WorkloadCondition/named(_:)``; `nil` for a name that it does not know.
    public init(
        _ monitor: SystemMonitor? = nil, named: @escaping @Sendable (String) -> ConditionVerdict? = { _ in nil }
    ) {
        self.monitor = monitor
        self.named = named
    }

    /// Judges a condition.
    public func verdict(on condition: WorkloadCondition) -> ConditionVerdict {
        if case .named(let name) = condition, let verdict = named(name) { return verdict }
        return condition.verdict(in: monitor?.conditions ?? SystemConditions())
    }

    /// Returns a stream of hints.
    public func changes() -> AsyncStream<Void> {
        guard let monitor else { return AsyncStream { $0.finish() } }
        let changes = monitor.conditionChanges
        return AsyncStream { continuation in
            let task = Task {
                for await _ in changes { continuation.yield() }
                continuation.finish()
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }
}
