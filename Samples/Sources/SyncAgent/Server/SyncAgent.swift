internal import Glibc
internal import Hummingbird
internal import HummingbirdCore
internal import Logging
internal import NIOCore
internal import ServiceLifecycle
internal import Sync
public import TreeScan

/// Offers one folder to syncs of other machines, over HTTP.
public struct SyncAgent: Sendable {
    /// The settings.
    public struct Settings: Sendable {
        /// The address to listen on.
        public var host = "127.0.0.1"
        /// The port; 0 for a free one.
        public var port = 0
        /// Whether all changes are refused.
        public var isReadOnly = false
        /// Further names that the Host header may have.
        public var allowedHosts: [String] = []

        /// Makes settings: changes are done, for this machine only.
        public init() {}
    }

    /// The largest number of connections.
    private static let connections = 64
    /// The time after which a silent connection is closed. Clients close theirs before.
    private static let idleTime = TimeAmount.seconds(75)
    /// The time that running requests have after a stop.
    private static let grace = Duration.seconds(2)

    private let settings: Settings
    private let answering: AgentAnswering

    /// Opens the folder.
    ///
    /// - Parameters:
    ///   - folder: The path of the folder. Only this path itself may be a link.
    ///   - token: The secret that each request must show.
    /// - Throws: `TreeScanError` if the folder is missing or cannot be read.
    public init(_ folder: String, token: String, settings: Settings = Settings()) throws(TreeScanError) {
        try self.init(folder, token: token, settings: settings, now: SyncOptions().now)
    }

    /// Opens the folder, with another clock.
    package init(
        _ folder: String, token: String, settings: Settings, now: @escaping @Sendable () -> Int64
    ) throws(TreeScanError) {
        guard let path = RootFolder.realPath(folder) else {
            throw errno == ENOENT ? .missing(path: folder) : .failed(path: folder, code: errno)
        }
        self.settings = settings
        answering = AgentAnswering(
            root: try RootFolder(path), sessions: AgentSessions(path: path),
            gate: AgentGate(
                token: token, hosts: Set((settings.allowedHosts + [settings.host]).map { $0.lowercased() })),
            isReadOnly: settings.isReadOnly, now: now)
    }

    /// Serves until the task is cancelled. Running requests then have a moment to end.
    ///
    /// - Parameter listening: Called once with the port.
    /// - Throws: `AgentError` if the agent cannot listen.
    public func run(listening: @escaping @Sendable (Int) -> Void = { _ in }) async throws {
        let router = Router()
        let answering = answering
        router.post("v1") { request, _ in try await answering.answer(request) }
        var logger = Logger(label: "qos-sync")
        logger.logLevel = .critical
        let application = Application(
            router: router,
            server: .http1(
                configuration: HTTP1Channel.Configuration(
                    idleTimeout: Self.idleTime,
                    httpDecoderConfiguration: .init(
                        maxHeaderFieldSize: 8 * 1024, maxHeaderListSize: 16 * 1024, maxHeaderFieldCount: 50))),
            configuration: ApplicationConfiguration(
                address: .hostname(settings.host, port: settings.port), serverName: "qos-sync",
                availableConnectionsDelegate: MaximumAvailableConnections(Self.connections, logger: logger)),
            onServerRunning: { listening($0.localAddress?.port ?? 0) },
            logger: logger)
        var configuration = ServiceGroupConfiguration(services: [.init(service: application)], logger: logger)
        configuration.maximumGracefulShutdownDuration = Self.grace
        let group = ServiceGroup(configuration: configuration)
        // Not a child: a child would be cancelled at once, and the connections cut.
        let running = Task { try await group.run() }
        do {
            try await withTaskCancellationHandler {
                try await running.value
            } onCancel: {
                Task { await group.triggerGracefulShutdown() }
            }
        } catch let error as IOError {
            throw AgentError(
                "The agent cannot listen on \(settings.host), port \(settings.port): \(error). Choose another --host or "
                    + "--port.")
        }
    }
}
