internal import NIOCore
internal import Synchronization

/// One open connection.
final class Connection: Sendable {
    private struct State {
        var isEnded = false
        var atEnd: (@Sendable () -> Void)?
    }

    let channel: any Channel
    private let state = Mutex(State())

    init(_ channel: any Channel) {
        self.channel = channel
    }

    /// The same value for each object of the same channel.
    var id: ObjectIdentifier { ObjectIdentifier(channel) }

    /// Sets the closure to call once when the connection ends. Calls it at once if the connection has ended.
    func atEnd(_ body: (@Sendable () -> Void)?) {
        let isEnded = state.withLock { state in
            state.atEnd = body
            return state.isEnded
        }
        if isEnded { body?() }
    }

    /// Cancels the work for the connection.
    func cancel() {
        let body = state.withLock { state in
            state.isEnded = true
            return state.atEnd
        }
        body?()
    }
}
