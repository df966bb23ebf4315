internal import Glibc
internal import Hummingbird
internal import Indexing
internal import Logging
internal import NIOCore
internal import ServiceLifecycle

/// The whole of the service: the index, the passes over it, the server and the terminal.
struct SearchService: Sendable {
    /// How long requests that are under way may take to end after a stop.
    private static let grace = Duration.milliseconds(500)

    let settings: ServiceSettings

    init(_ settings: ServiceSettings) {
        self.settings = settings
    }

    /// Runs until it is cancelled or fails; either way the index is closed in order.
    func run() async -> ExitStatus {
        do {
            let index = try SearchIndex(folder: settings.folder, directory: settings.directory)
            let status: ExitStatus
            do {
                try await serve(index)
                status = .success
            } catch is CancellationError {
                status = .success
            } catch {
                complain(describe(error))
                status = .failure
            }
            try index.close()
            return status
        } catch {
            complain("\(error)")
            return .failure
        }
    }

    /// Serves requests and indexes; returns or throws when one of the parts has ended, and all have.
    private func serve(_ index: SearchIndex) async throws {
        let meter = ThroughputMeter()
        let terminal = ProgressReporter(index: index, meter: meter, isQuiet: settings.isQuiet)
        let driver = IndexDriver(index: index, interval: settings.rescanInterval)
        let (listening, started) = AsyncStream.makeStream(of: Int.self)
        let server = server(index, meter: meter, started: started)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await Self.runToTheEnd(server) }
            group.addTask {
                // Ends by cancellation only: an end of its own could come before the error that the server ends with, and
                // the first end is what the service ends with.
                for await port in listening {
                    terminal.announce("Listening on http://\(settings.host):\(port)/")
                    try await runAtBackground { try await driver.run() }
                }
            }
            group.addTask { try await terminal.run() }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    private func server(
        _ index: SearchIndex,
        meter: ThroughputMeter,
        started: AsyncStream<Int>.Continuation
    ) -> ServiceGroup {
        // The service speaks through its own terminal; the libraries' logs are for trouble.
        let logger = Logger(label: "qos-service") { _ in
            var handler = StreamLogHandler.standardError(label: "qos-service")
            handler.logLevel = .critical
            return handler
        }
        let port = settings.port
        let application = Application(
            router: SearchRoutes(index: index, meter: meter).router(),
            configuration: ApplicationConfiguration(
                address: .hostname(settings.host, port: port),
                serverName: "qos-service"
            ),
            onServerRunning: { channel in started.yield(channel.localAddress?.port ?? port) },
            logger: logger
        )
        var configuration = ServiceGroupConfiguration(services: [.init(service: application)], logger: logger)
        configuration.maximumGracefulShutdownDuration = Self.grace
        return ServiceGroup(configuration: configuration)
    }

    /// Runs the server so that cancellation lets the requests under way end first.
    private static func runToTheEnd(_ server: ServiceGroup) async throws {
        // Not a child, because a child would be cancelled at once, and the connections cut.
        let running = Task { try await server.run() }
        try await withTaskCancellationHandler {
            try await running.value
        } onCancel: {
            Task { await server.triggerGracefulShutdown() }
        }
    }

    private func describe(_ error: any Error) -> String {
        let place = "\(settings.host):\(settings.port)"
        guard let failure = error as? IOError else { return "\(error)" }
        return switch failure.errnoCode {
        case EADDRINUSE:
            "Port \(settings.port) on \(settings.host) is taken. Stop the program that listens there, or choose "
                + "another port with --port."
        case EACCES:
            "Port \(settings.port) is not allowed for this user. Choose one above 1023 with --port."
        default:
            "The service cannot listen on \(place): \(failure). Choose another --host or --port."
        }
    }
}
