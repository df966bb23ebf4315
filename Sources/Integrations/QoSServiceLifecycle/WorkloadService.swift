#if ServiceLifecycle
public import QoSWorkloads
public import ServiceLifecycle

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
/// - A cancellation during the shutdown ends the service at once. The host cancels the attempts and gives their leases
///   back. In the example, SIGINT after SIGTERM does so.
public struct WorkloadService: Service, CustomStringConvertible {
    private let host: WorkloadHost

    /// Makes a service of a host. Nothing else runs the host.
    public init(_ host: WorkloadHost) {
        self.host = host
    }

    /// Runs the host until it has ended.
    ///
    /// - Throws: `WorkloadHostError.alreadyRun`.
    public func run() async throws {
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
