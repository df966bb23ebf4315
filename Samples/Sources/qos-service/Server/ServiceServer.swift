internal import Hummingbird
internal import HummingbirdCore
internal import Logging
internal import NIOCore
internal import ServiceLifecycle

/// The HTTP server with its limits.
struct ServiceServer: Sendable {
    /// The time that running requests have to end after a stop.
    private static let grace = Duration.milliseconds(400)
    /// The time that searches have after a stop.
    private static let searchGrace = Duration.milliseconds(150)

    private let group: ServiceGroup
    private let connections: Connections
    private let live: LiveBoard

    /// Makes a server. It listens once it runs, and calls `onListening` with the port.
    init(
        _ routes: ServiceRoutes,
        settings: ServiceSettings,
        onListening: @escaping @Sendable (Int?) -> Void
    ) {
        let logger = Self.logger(settings)
        let connections = routes.connections
        self.connections = connections
        live = routes.workloads.live
        let time = TimeAmount(settings.requestTime)
        let address: BindAddress =
            switch settings.address {
            case .network(let host, let port): .hostname(host, port: port)
            case .socket(let path): .unixDomainSocket(path: path)
            }
        let application = Application(
            router: routes.router(),
            server: .http1(
                configuration: HTTP1Channel.Configuration(
                    additionalChannelHandlers: [ConnectionGuard(connections: connections, timeLimit: time)],
                    idleTimeout: TimeAmount(settings.idleTime),
                    httpDecoderConfiguration: .init(
                        maxHeaderFieldSize: 16 * 1024,
                        maxHeaderListSize: 32 * 1024,
                        maxHeaderFieldCount: 100
                    )
                )
            ),
            configuration: ApplicationConfiguration(
                address: address,
                serverName: "qos-service",
                availableConnectionsDelegate: ConnectionLimit(connections: connections)
            ),
            onServerRunning: { channel in
                try? await channel.eventLoop.submit {
                    // One at a time: the limit is checked between two of them.
                    try channel.syncOptions?.setOption(.maxMessagesPerRead, value: 1)
                    try channel.pipeline.syncOperations.addHandler(AcceptBackoff(), position: .first)
                }.get()
                onListening(channel.localAddress?.port)
            },
            logger: logger
        )
        // The framework's own messages are for trouble only.
        var quiet = logger
        quiet.logLevel = max(settings.logLevel, .critical)
        var configuration = ServiceGroupConfiguration(services: [.init(service: application)], logger: quiet)
        configuration.maximumGracefulShutdownDuration = Self.grace
        group = ServiceGroup(configuration: configuration)
    }

    /// Returns the log. The service has its own terminal output, so the log is for requests, workloads and trouble.
    static func logger(_ settings: ServiceSettings) -> Logger {
        Logger(label: "qos-service") { label in
            var handler = StreamLogHandler.standardError(label: label)
            handler.logLevel = settings.logLevel
            return handler
        }
    }

    /// Runs the server. Cancellation lets running requests end first, and interrupts long searches.
    func run() async throws {
        // Not a child: a child would be cancelled at once, and the connections cut.
        let group = group
        let running = Task { try await runTurns { try await group.run() } }
        try await withTaskCancellationHandler {
            try await running.value
        } onCancel: {
            Task {
                live.end()
                await group.triggerGracefulShutdown()
                try await Task.sleep(for: Self.searchGrace)
                connections.cancelAll()
            }
        }
    }
}
