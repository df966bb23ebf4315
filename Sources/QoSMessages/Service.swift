import QoSCore
import QoSKernel
public import QoSRuntime

/// A service: handlers for the requests and messages of other processes.
///
/// ```swift
/// let service = Service("org.example.thumbnails")
/// service.on(Thumbnail.self) { request, call in try await render(request, by: call.deadline) }
/// service.on(Forget.self) { message, _ in cache.drop(message.path) }
/// try await service.run()
/// ```
///
/// A handler runs in a task of its own, at the level of its request (rule M2). It is raised while its requester is
/// raised, and cancelled when nobody waits for it any more.
///
/// Threading: any thread.
public final class Service: Sendable {
    private struct State {
        var handlers = ServiceHandlers()
        var isRunning = false
        var isEnding = false
        var connections: [ObjectIdentifier: (connection: Connection, user: UInt32)] = [:]
        var usersConnections: [UInt32: Int] = [:]
        var end: CheckedContinuation<Void, Never>?
        /// The last time at which a refusal was told. Monotonic nanoseconds.
        var lastReport: UInt64?
    }

    /// The name, or an absolute path.
    public let name: String

    private let access: ServiceAccess
    private let limits: ServiceLimits
    private let propagators: [ServicePropagator]
    private let scheduler: QoSScheduler?
    private let clamp: ServiceClamp?
    private let state = Lock(State())

    /// Makes a service; ``run(onListening:)`` starts it.
    ///
    /// - Parameters:
    ///   - name: Letters, digits, `.`, `_` and `-`, 64 at most, for a socket in the user's runtime directory. Or an
    ///     absolute path, whose directory exists.
    ///   - access: The peers that it takes. Peers of other users can reach a socket at a path, or one that systemd made.
    ///   - limits: The most that it takes from a connection.
    ///   - propagators: They carry the service context.
    ///   - clampsWithoutImportance: Whether the scheduler is clamped to background while no peer needs the service
    ///     (rule M3): from 50 ms after the last hold on, until the next one. That concerns all work of the scheduler,
    ///     so it is for a service that has the process to itself. Without a scheduler it has no effect.
    ///   - scheduler: Runs the handlers. `nil` is Swift's default executor.
    public convenience init(
        _ name: String, allow access: ServiceAccess = .sameUser, limits: ServiceLimits = ServiceLimits(),
        propagators: [ServicePropagator] = [], clampsWithoutImportance: Bool = false,
        on scheduler: QoSScheduler? = QoSProcess.scheduler
    ) {
        let clamp = clampsWithoutImportance ? scheduler.map { ServiceClamp($0, .monotonic) } : nil
        self.init(name, allow: access, limits: limits, propagators: propagators, clamp: clamp, on: scheduler)
    }

    /// - Parameter clamp: clamps the scheduler; `nil` for none.
    init(
        _ name: String, allow access: ServiceAccess = .sameUser, limits: ServiceLimits = ServiceLimits(),
        propagators: [ServicePropagator] = [], clamp: ServiceClamp?, on scheduler: QoSScheduler?
    ) {
        (self.name, self.access, self.limits) = (name, access, limits)
        (self.propagators, self.scheduler, self.clamp) = (propagators, scheduler, clamp)
    }

    /// Sets the handler of a request, before the service runs.
    ///
    /// An error of the handler arrives at the requester as ``ServiceError/Reason/remote(code:_:)``; ``ServiceFailure``
    /// gives it a code.
    public func on<Request: ServiceRequest>(
        _ type: Request.Type,
        _ handler: @escaping @Sendable (Request, ServiceCall) async throws -> Request.Reply
    ) {
        state.withLock { $0.handlers.on(type, handler) }
    }

    /// Sets the handler of a one-way message, before the service runs. Messages are handled at the same time, in no
    /// order.
    public func on<Message: ServiceMessage>(
        _ type: Message.Type, _ handler: @escaping @Sendable (Message, ServiceCall) async throws -> Void
    ) {
        state.withLock { $0.handlers.on(type, handler) }
    }

    // MARK: Running

    /// Listens until the calling task is cancelled.
    ///
    /// In a process that a ``ChildService`` has started, the first service serves the parent, whatever `allow` says. It
    /// does not listen, and ends with the connection to the parent, too.
    ///
    /// Otherwise the socket is the one that systemd passes (`LISTEN_FDS`): the one whose name in `LISTEN_FDNAMES` is
    /// that of the service, else the first. Without one, it is `$XDG_RUNTIME_DIR/qos/NAME.sock`. The directory has the
    /// mode 0700, the socket 0600. A socket that a dead process has left is replaced.
    ///
    /// At the end, the handlers are cancelled and awaited, and the requesters get `connectionLost`.
    ///
    /// - Parameter onListening: Called when peers can connect.
    /// - Throws: ``ServiceError`` with `serviceUnavailable` if the service cannot listen, or another process does
    ///   already.
    public func run(onListening: @Sendable () -> Void = {}) async throws(ServiceError) {
        guard let loop = MessageLoop.shared else {
            throw ServiceError(.serviceUnavailable("the system has no thread for the loop"), mayHaveBegun: false)
        }
        guard
            state.withLock({ state in
                defer { state.isRunning = true }
                return !state.isRunning
            })
        else { throw ServiceError(.serviceUnavailable("the service has run already"), mayHaveBegun: false) }
        let parent = ServiceSocket.takeParent()
        let listener = parent == nil ? try await listen(on: loop) : nil
        clamp?.begin()
        if let parent { serve(parent: parent, on: loop) }
        onListening()
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isEnding = state.withLock { state in
                    if !state.isEnding { state.end = continuation }
                    return state.isEnding
                }
                if isEnding { continuation.resume() }
            }
        } onCancel: {
            end()
        }
        await listener?.stop()
        await closeConnections()
    }

    private func listen(on loop: MessageLoop) async throws(ServiceError) -> ServiceListener {
        let socket = try ServiceSocket.listen(name, admitsOthers: access.admitsOthers)
        return try await ServiceListener.start(socket, on: loop) { descriptor in self.accept(descriptor, on: loop) }
    }

    /// Lets ``run(onListening:)`` end. Any number of times.
    private func end() {
        // First: the end needs all classes.
        clamp?.end()
        let end = state.withLock { state in
            state.isEnding = true
            return state.end.take()
        }
        end?.resume()
    }

    /// Serves the process that has started this one. It may do anything to this one, so it is taken in any case. Its
    /// entry gives the ceiling.
    private func serve(parent descriptor: Int32, on loop: MessageLoop) {
        let (peer, groups) = ServiceSocket.peer(of: descriptor) ?? (ServiceSocket.ownPeer, groups: [])
        let ceiling = access.entry(for: peer, groups: groups, ownUser: ServiceSocket.ownUser)?.ceiling
        guard let connection = admit(peer, ceiling: ceiling) else {
            ServiceSocket.refuse(descriptor, "the service ends")
            end()
            return
        }
        SocketTransport.start(descriptor, connection, on: loop) {
            self.ended(connection)
            self.end()
        }
    }

    private func closeConnections() async {
        let connections = state.withLock { state in
            state.isEnding = true
            return state.connections.values.map(\.connection)
        }
        for connection in connections { connection.close() }
        for connection in connections { await connection.waitUntilIdle() }
    }

    /// The number of connections.
    public var connectionCount: Int { state.withLock { $0.connections.count } }

    /// The holds of the peers, and whether the service is clamped (rule M3).
    ///
    /// Without `clampsWithoutImportance`, it is not clamped and no hold is counted. Any thread; some microseconds.
    public var importance: ServiceImportance {
        let connections = state.withLock { $0.connections.values.map(\.connection) }
        return ServiceImportance(
            isClamped: clamp?.isClamped ?? false,
            holders: connections.compactMap(\.holder).sorted { $0.peer.pid < $1.peer.pid })
    }

    /// Takes a new connection. The loop's thread.
    private func accept(_ descriptor: Int32, on loop: MessageLoop) {
        ServiceSteps.reach(.accepted)
        guard let (peer, groups) = ServiceSocket.peer(of: descriptor) else {
            ServiceSocket.refuse(descriptor, "the kernel does not name the peer")
            return
        }
        guard let entry = access.entry(for: peer, groups: groups, ownUser: ServiceSocket.ownUser) else {
            report("process \(peer.pid) of user \(peer.user) is not allowed")
            ServiceSocket.refuse(descriptor, "user \(peer.user) is not allowed")
            return
        }
        guard let connection = admit(peer, ceiling: entry.ceiling) else {
            report("user \(peer.user) has \(limits.connectionsPerUser) connections")
            ServiceSocket.refuse(descriptor, "too many connections, or the service ends")
            return
        }
        SocketTransport.start(descriptor, connection, on: loop) { self.ended(connection) }
    }

    /// Makes the connection of a peer; `nil` if its user has too many, or the service ends.
    private func admit(_ peer: ServicePeer, ceiling: QoSLevel?) -> Connection? {
        let handlers = state.withLock { state -> ServiceHandlers? in
            guard !state.isEnding, state.usersConnections[peer.user, default: 0] < limits.connectionsPerUser else {
                return nil
            }
            state.usersConnections[peer.user, default: 0] += 1
            return state.handlers
        }
        guard let handlers else { return nil }
        let connection = Connection(
            peer: peer,
            settings: Connection.Settings(
                handlers: handlers, limits: limits, propagators: propagators, scheduler: scheduler, ceiling: ceiling,
                clamp: clamp))
        let isEnding = state.withLock { state in
            state.connections[ObjectIdentifier(connection)] = (connection, peer.user)
            return state.isEnding
        }
        if isEnding { connection.close() }
        return connection
    }

    private func ended(_ connection: Connection) {
        state.withLock { state in
            guard let (_, user) = state.connections.removeValue(forKey: ObjectIdentifier(connection)) else { return }
            let count = (state.usersConnections[user] ?? 1) - 1
            state.usersConnections[user] = count > 0 ? count : nil
        }
    }

    /// Tells of a refusal, once a minute at most.
    private func report(_ text: String) {
        let now = MonotonicClock.nanoseconds()
        let isDue = state.withLock { state in
            guard now >= (state.lastReport ?? 0) + 60_000_000_000 || state.lastReport == nil else { return false }
            state.lastReport = now
            return true
        }
        if isDue { StandardError.write("warning: service '\(name)' refuses a peer: \(text)") }
    }

    // MARK: In the same process

    /// Connects to the service within its own process, without a socket and whether it runs or not. For a helper that
    /// is no process of its own, and for tests. A service that clamps its scheduler begins to do so.
    ///
    /// - Parameter handlers: Handlers of what the service sends to this side.
    /// - Throws: ``ServiceError``: `refused` if the user has too many connections.
    public func makeSession(handlers: ServiceHandlers = ServiceHandlers()) async throws(ServiceError) -> ServiceSession
    {
        clamp?.begin()
        let peer = ServiceSocket.ownPeer
        guard let inner = admit(peer, ceiling: access.entry(for: peer, groups: [], ownUser: peer.user)?.ceiling) else {
            throw ServiceError(.refused("too many connections, or the service ends"), mayHaveBegun: false)
        }
        let outer = Connection(
            peer: peer,
            settings: Connection.Settings(
                handlers: handlers, limits: limits, propagators: propagators, scheduler: scheduler))
        let session = ServiceSession(owning: outer)
        InProcessPipe.connect(outer, inner) { self.ended(inner) }
        try await outer.waitUntilReady()
        return session
    }
}
