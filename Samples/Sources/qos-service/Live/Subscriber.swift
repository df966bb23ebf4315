internal import NIOCore
internal import Synchronization

/// One client of the live events. It gets the latest state only: a slow one misses states, and keeps no memory.
final class Subscriber: Sendable {
    /// Whether it may see what only the owner may see.
    let isTrusted: Bool
    let states: AsyncStream<String>
    private let next: AsyncStream<String>.Continuation
    private let channel: any Channel
    /// The begin of the write that goes on.
    private let writing = Mutex<ContinuousClock.Instant?>(nil)
    private let atEnd: @Sendable () -> Void

    init(_ channel: any Channel, isTrusted: Bool, atEnd: @escaping @Sendable () -> Void) {
        self.channel = channel
        self.isTrusted = isTrusted
        self.atEnd = atEnd
        (states, next) = AsyncStream.makeStream(of: String.self, bufferingPolicy: .bufferingNewest(1))
    }

    deinit {
        atEnd()
    }

    func send(_ state: String) {
        next.yield(state)
    }

    func finish() {
        next.finish()
    }

    /// Notes that a write begins, or that it has ended.
    func noteWrite(begins: Bool) {
        writing.withLock { $0 = begins ? .now : nil }
    }

    /// Closes the connection if the client has taken nothing for a time.
    func closeIfStuck(for limit: Duration) {
        guard let begin = writing.withLock({ $0 }), ContinuousClock.now - begin > limit else { return }
        finish()
        channel.close(promise: nil)
    }
}
