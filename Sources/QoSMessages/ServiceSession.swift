import QoSCore
import QoSKernel
public import QoSRuntime

// The public side of a connection: `send` and its end. The way of a request from here: `Connection.send`,
// `ConnectionMachine.send`, the transport, the peer's `ConnectionMachine.receive`, `Connection.handle`, and back.

/// A connection to a service, or to a client from a service's side.
///
/// ```swift
/// let session = try await ServiceSession(to: "org.example.thumbnails")
/// let image = try await session.send(Thumbnail(path: path, side: 256), timeout: .seconds(2))
/// ```
///
/// A session does not connect again. After its end, each send throws at once. The last reference closes the connection.
///
/// Threading: any thread or task; any number of sends at a time. Each runs at its caller's level.
public final class ServiceSession: Sendable {
    private let connection: Connection
    private let isOwner: Bool

    /// Connects to a service of this user, or to one at a path.
    ///
    /// - Parameters:
    ///   - service: The name of the service, or an absolute path of its socket.
    ///   - handlers: Handlers of what the service sends to this side.
    ///   - limits: The most that this side takes: replies, and what the service sends.
    ///   - propagators: They carry the service context.
    ///   - scheduler: Runs `handlers`. `nil` is Swift's default executor.
    /// - Throws: ``ServiceError``: `serviceUnavailable`, `refused` or `incompatible`.
    public convenience init(
        to service: String, handlers: ServiceHandlers = ServiceHandlers(), limits: ServiceLimits = ServiceLimits(),
        propagators: [ServicePropagator] = [], on scheduler: QoSScheduler? = QoSProcess.scheduler
    ) async throws(ServiceError) {
        guard let loop = MessageLoop.shared else {
            throw ServiceError(.serviceUnavailable("the system has no thread for the loop"), mayHaveBegun: false)
        }
        let socket = try ServiceSocket.connect(to: service)
        let connection = Connection(
            peer: socket.peer,
            settings: Connection.Settings(
                handlers: handlers, limits: limits, propagators: propagators, scheduler: scheduler))
        self.init(owning: connection)
        SocketTransport.start(socket.descriptor, connection, on: loop)
        try await connection.waitUntilReady()
    }

    init(owning connection: Connection) { (self.connection, isOwner) = (connection, true) }

    init(borrowing connection: Connection) { (self.connection, isOwner) = (connection, false) }

    deinit {
        if isOwner { connection.close() }
    }

    /// The process at the other end.
    public var peer: ServicePeer { connection.peer }

    /// Sends a request and returns its reply.
    ///
    /// The request carries the caller's level (rules B6, M2), deadline, activity and service context. If the caller's
    /// task is raised while it waits, so is the handler, queued or running. Cancellation and timeout end the wait at
    /// once, and cancel the handler's task.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - timeout: The longest time to wait. `nil`: as long as the request lasts. Within a handler, its own deadline
    ///     counts if it is sooner.
    /// - Throws: ``ServiceError``.
    public nonisolated(nonsending) func send<Request: ServiceRequest>(
        _ request: Request, timeout: Duration? = nil
    ) async throws(ServiceError) -> Request.Reply {
        let type = ServiceType.of(Request.self)
        let payload = try await connection.send(
            try Self.encode(request, type), type, isMessage: false, timeout: timeout)
        do {
            return try CBOREncoding.decode(Request.Reply.self, from: payload)
        } catch {
            throw ServiceError(.incompatible("the reply to '\(type.name)': \(error)"), mayHaveBegun: true)
        }
    }

    /// Sends a one-way message. Returns when it has left this process: the peer may still lose it.
    ///
    /// Suspends while the peer has as many messages in hand as it takes.
    ///
    /// - Parameters:
    ///   - message: The message.
    ///   - timeout: The longest time to wait until it leaves; and the handler's deadline.
    /// - Throws: ``ServiceError``.
    public nonisolated(nonsending) func send<Message: ServiceMessage>(
        _ message: Message, timeout: Duration? = nil
    ) async throws(ServiceError) {
        let type = ServiceType.of(Message.self)
        _ = try await connection.send(try Self.encode(message, type), type, isMessage: true, timeout: timeout)
    }

    /// Runs a body while the peer's process is kept important (rule M3): a service that is clamped to background while
    /// nobody needs it is not clamped meanwhile.
    ///
    /// A request or message above background does this by itself, until its reply has been sent and its work has ended.
    /// Use a scope for a series of them, or to let the service prepare something. Scopes may be nested, and run at the
    /// same time. The service is told at once; the call does not wait for it. The scope has no effect on a service that
    /// does not clamp itself, or allows this user no more than background, or has closed the connection.
    ///
    /// Any thread or task.
    ///
    /// - Parameter body: Runs as a part of the calling task.
    /// - Returns: The body's result.
    /// - Throws: The body's errors, and no others.
    public nonisolated(nonsending) func withImportance<Success, Failure: Error>(
        _ body: nonisolated(nonsending) () async throws(Failure) -> Success
    ) async throws(Failure) -> Success {
        connection.hold()
        defer { connection.release() }
        return try await body()
    }

    private static func encode<Payload: ServicePayload>(
        _ payload: Payload, _ type: ServiceType
    ) throws(ServiceError) -> [UInt8] {
        do {
            return try CBOREncoding.encode(payload)
        } catch {
            throw ServiceError(.incompatible("'\(type.name)' cannot be encoded: \(error)"), mayHaveBegun: false)
        }
    }

    /// Whether the connection has ended.
    var hasEnded: Bool { connection.hasEnded }

    /// Closes the connection. Open requests of both sides end. Any number of times.
    public func close() { connection.close() }

    /// The open requests: own ones, the peer's, and running handlers. For tests.
    package var open: (own: Int, incoming: Int, running: Int) { connection.open }
}
