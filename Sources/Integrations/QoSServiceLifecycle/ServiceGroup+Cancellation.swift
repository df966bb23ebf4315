#if ServiceLifecycle
public import ServiceLifecycle

extension ServiceGroup {
    /// Runs the group until all services have ended. The cancellation of the calling task begins a graceful shutdown.
    ///
    /// Use it in `QoSProcess.run`, for a group without signals of its own: then one party handles each signal. SIGTERM
    /// cancels the body, the body's cancellation shuts the group down, and the code after the group runs. A second
    /// signal ends the process, and so does the end of `signalGrace` (`Docs/Signals.md`).
    ///
    /// ```swift
    /// QoSProcess.run {
    ///     let group = ServiceGroup(services: [host.service, server], logger: logger)
    ///     try await group.runUntilCancelled()
    /// }
    /// ```
    ///
    /// A group shuts down its last service first. So the host stands before the server whose requests wait for its items.
    ///
    /// The services run on the process's default executor, whatever executor the calling task prefers.
    ///
    /// - Throws: the errors of `run()`.
    public nonisolated func runUntilCancelled() async throws {
        // Not a child: a child would be cancelled at once, and the services with it.
        let running = Task { try await self.run() }
        try await withTaskCancellationHandler {
            try await running.value
        } onCancel: {
            Task { await self.triggerGracefulShutdown() }
        }
    }
}
#endif
