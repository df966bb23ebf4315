internal import CoreMetrics
internal import NIOCore
internal import Synchronization

/// The connections that are open, and what is to end with them.
final class Connections: Sendable {
    private let open = Mutex<[ObjectIdentifier: Connection]>([:])
    /// How many may be open at a time.
    let limit: Int

    init(limit: Int) {
        self.limit = limit
    }

    /// The number of open connections.
    var count: Int { open.withLock { $0.count } }

    /// Adds a connection. When no place is left then, the one that has been without a request for the longest time is
    /// closed. O(connections) in that case.
    func add(_ connection: Connection) {
        let surplus = open.withLock { open -> Connection? in
            open[ObjectIdentifier(connection.channel)] = connection
            guard open.count >= limit else { return nil }
            let idle = open.values.compactMap { connection in connection.idleSince.map { ($0, connection) } }
            return idle.min { $0.0 < $1.0 }?.1
        }
        // One that is about to be closed is not chosen again.
        surplus?.note(hasRequest: true)
        surplus?.channel.close(promise: nil)
        ServiceMetrics.connections.record(count)
    }

    /// Forgets a connection and ends what goes on for it.
    func remove(_ connection: Connection) {
        open.withLock { _ = $0.removeValue(forKey: ObjectIdentifier(connection.channel)) }
        connection.cancel()
        ServiceMetrics.connections.record(count)
    }

    /// Runs `body` in a task that is cancelled when the connection closes.
    ///
    /// - Throws: What the body throws, or `CancellationError` when the connection is closed.
    func whileOpen<Value: Sendable>(
        _ channel: any Channel,
        _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        guard let connection = open.withLock({ $0[ObjectIdentifier(channel)] }) else { throw CancellationError() }
        let task = Task { try await body() }
        connection.atEnd { task.cancel() }
        defer { connection.atEnd(nil) }
        return try await withTaskCancellationHandler {
            try await task.value
        } onCancel: {
            task.cancel()
        }
    }

    /// Ends what goes on for any connection; the answers then say that it was cancelled.
    func cancelAll() {
        for connection in open.withLock({ Array($0.values) }) { connection.cancel() }
    }
}

/// One open connection.
final class Connection: Sendable {
    private struct State {
        var idleSince: NIODeadline? = .now()
        var isEnded = false
        var atEnd: (@Sendable () -> Void)?
    }

    let channel: any Channel
    private let state = Mutex(State())

    init(_ channel: any Channel) {
        self.channel = channel
    }

    /// Since when the connection is without a request; nil while it has one.
    var idleSince: NIODeadline? { state.withLock { $0.idleSince } }

    /// Notes that a request has begun, or that the last one was answered.
    func note(hasRequest: Bool) {
        state.withLock { $0.idleSince = hasRequest ? nil : .now() }
    }

    /// Sets what is called when the connection ends, once; at once, if it has ended.
    func atEnd(_ body: (@Sendable () -> Void)?) {
        let isEnded = state.withLock { state in
            state.atEnd = body
            return state.isEnded
        }
        if isEnded { body?() }
    }

    /// Ends what goes on for the connection.
    func cancel() {
        let body = state.withLock { state in
            state.isEnded = true
            return state.atEnd
        }
        body?()
    }
}
