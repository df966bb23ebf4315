internal import CoreMetrics
internal import NIOCore
internal import Synchronization

/// The open connections, and the work that ends with them. `ConnectionPlaces` has the rules.
final class Connections: Sendable {
    /// The time that a client has for its first request. After that its connection may be closed to make room.
    private static let freshTime = TimeAmount.milliseconds(50)

    private struct State {
        var places: ConnectionPlaces<ObjectIdentifier>
        var open: [ObjectIdentifier: Connection] = [:]
    }

    private let state: Mutex<State>

    /// Makes an empty collection.
    ///
    /// - Parameter limit: The maximum number of open connections.
    init(limit: Int) {
        state = Mutex(State(places: ConnectionPlaces(limit: limit)))
    }

    /// Whether another connection may be accepted.
    var isAccepting: Bool { state.withLock { $0.places.isAccepting } }

    /// Notes that a connection was accepted.
    func take() {
        state.withLock { $0.places.take() }
    }

    /// Notes that the place of an accepted connection is free again.
    func release() {
        state.withLock { $0.places.release() }
    }

    /// Adds a connection.
    func add(_ connection: Connection) {
        change { state in
            state.open[connection.id] = connection
            return state.places.add(connection.id)
        }
        connection.channel.eventLoop.scheduleTask(in: Self.freshTime) { self.settle(connection) }
    }

    /// Notes that a request has begun.
    func begin(_ connection: Connection) {
        change { $0.places.begin(connection.id) }
    }

    /// Notes that the answer to the last request was written to its end.
    func finish(_ connection: Connection) {
        change { $0.places.finish(connection.id) }
    }

    /// Forgets a connection and cancels its work.
    func remove(_ connection: Connection) {
        change { state in
            state.open[connection.id] = nil
            state.places.remove(connection.id)
            return []
        }
        connection.cancel()
    }

    /// Runs `body` in a task that is cancelled when the connection closes.
    ///
    /// The task starts at once, on the thread of its caller. Until it suspends, nothing cancels it.
    ///
    /// - Throws: The body's error, or `CancellationError` when the connection is closed.
    func whileOpen<Value: Sendable>(
        _ channel: any Channel,
        _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        guard let connection = state.withLock({ $0.open[ObjectIdentifier(channel)] }) else { throw CancellationError() }
        let task = Task.immediate { try await body() }
        connection.atEnd { task.cancel() }
        defer { connection.atEnd(nil) }
        return try await withTaskCancellationHandler {
            try await task.value
        } onCancel: {
            task.cancel()
        }
    }

    /// Cancels the work of all connections. Their answers then report the cancellation.
    func cancelAll() {
        for connection in state.withLock({ Array($0.open.values) }) { connection.cancel() }
    }

    private func settle(_ connection: Connection) {
        change { state in
            // Another channel may have the address of a closed one.
            guard state.open[connection.id] === connection else { return [] }
            return state.places.settle(connection.id)
        }
    }

    /// Changes the state and closes the connections that the change returns.
    private func change(_ body: (inout State) -> [ObjectIdentifier]) {
        let (chosen, count) = state.withLock { state in
            let chosen = body(&state)
            return (chosen.compactMap { state.open[$0] }, state.places.count)
        }
        ServiceMetrics.connections.record(count)
        for connection in chosen {
            // On its own loop, where its requests begin. So none can begin between the check and the close.
            connection.channel.eventLoop.execute {
                guard self.state.withLock({ $0.places.isLeaving(connection.id) }) else { return }
                ServiceMetrics.evicted.increment()
                connection.channel.close(promise: nil)
            }
        }
    }
}
