#if ServiceLifecycle
public import QoSWorkloads
public import ServiceLifecycle
public import UnixSignals

/// A host of workloads as a service of a `ServiceGroup`.
///
/// ```swift
/// let group = ServiceGroup(
///     services: [host.service, server], gracefulShutdownSignals: [.sigterm], cancellationSignals: [.sigint],
///     logger: logger)
/// try await group.run()
/// ```
///
/// - A graceful shutdown asks the attempts to stop. They save their checkpoints, the host gives their leases back, and
///   the service ends after `WorkloadHost.Configuration.endGrace` at the latest.
/// - A cancellation without a shutdown before does the same.
/// - A second signal, or a cancellation during the shutdown, ends the service at once. The host cancels the attempts
///   and gives their leases back.
public struct WorkloadService: Service, CustomStringConvertible {
    private let host: WorkloadHost
    private let impatientSignals: [UnixSignal]

    /// Makes a service of a host.
    ///
    /// - Parameters:
    ///   - host: the host; nothing else runs it.
    ///   - impatientSignals: the signals that end a shutdown at once. They count only after the shutdown has begun.
    public init(_ host: WorkloadHost, impatientSignals: [UnixSignal] = [.sigterm, .sigint]) {
        self.host = host
        self.impatientSignals = impatientSignals
    }

    /// Runs the host until it has ended.
    ///
    /// - Throws: `WorkloadHostError.alreadyRun`.
    public func run() async throws {
        let watch = Task { [host, impatientSignals] in
            try await gracefulShutdown()
            for await _ in await UnixSignalsSequence(trapping: impatientSignals) {
                host.stopAtOnce()
                return
            }
        }
        defer { watch.cancel() }
        try await withGracefulShutdownHandler {
            try await host.run()
        } onGracefulShutdown: {
            host.stop()
        }
    }

    /// The name of the service in logs.
    public var description: String { "WorkloadHost" }
}

extension WorkloadHost {
    /// The host as a service of a `ServiceGroup`; see ``WorkloadService``.
    public var service: WorkloadService { WorkloadService(self) }
}
#endif
