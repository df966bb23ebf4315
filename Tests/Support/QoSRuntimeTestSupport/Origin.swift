package import QoSRuntime

/// How a task of a high record comes to run at the background.
package enum Origin: String, CaseIterable, Sendable {
    /// It is given to the executor of the class, as by code on the main thread.
    case executor
    /// It is a task of userInitiated within `withQoS(.background)`.
    case scope

    /// Starts the task.
    ///
    /// - Parameter isProcessWide: whether a task of userInitiated prefers no executor.
    package func start(
        on scheduler: QoSScheduler, isProcessWide: Bool = false, _ body: @escaping @Sendable () async -> Void
    ) -> Task<Void, Never> {
        let low = scheduler.executor(for: .background)
        switch self {
        case .executor: return Task.detached(executorPreference: low, priority: .userInitiated, operation: body)
        case .scope:
            let high = isProcessWide ? nil : scheduler.executor(for: .userInitiated)
            return Task.detached(executorPreference: high, priority: .userInitiated) {
                await scheduler.withQoS(.background) { await body() }
            }
        }
    }
}
