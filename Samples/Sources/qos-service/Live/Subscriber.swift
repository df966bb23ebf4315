internal import NIOCore
internal import Synchronization

/// One client of the live events. It gets the latest state only: a slow one misses states, and keeps no memory.
final class Subscriber: Sendable {
    /// Whether it may see what only the owner may see.
    let isTrusted: Bool
    /// Whether it understands changes of a state.
    let wantsChanges: Bool
    /// Whether it has the state before the next one.
    private let isCurrent = Mutex(false)
    let states: AsyncStream<String>
    private let next: AsyncStream<String>.Continuation
    private let channel: any Channel
    /// The begin of the write that goes on.
    private let writing = Mutex<ContinuousClock.Instant?>(nil)
    private let atEnd: @Sendable () -> Void

    init(_ channel: any Channel, isTrusted: Bool, wantsChanges: Bool = false, atEnd: @escaping @Sendable () -> Void) {
        self.channel = channel
        self.isTrusted = isTrusted
        self.wantsChanges = wantsChanges
        self.atEnd = atEnd
        (states, next) = AsyncStream.makeStream(of: String.self, bufferingPolicy: .bufferingNewest(1))
    }

    deinit {
        atEnd()
    }

    /// Sends a state, or what changed since the one before if the client has that one.
    ///
    /// - Parameters:
    ///   - changes: The changes; nil if nobody can have the state before.
    ///   - whole: Makes the state. It is not called without need.
    /// - Throws: The error of `whole`.
    func send(changes: String?, whole: () throws -> String) throws {
        try isCurrent.withLock { isCurrent in
            if wantsChanges, isCurrent, let changes {
                // A client that missed the changes before gets the whole state in their place.
                if case .dropped = next.yield(changes) { next.yield(try whole()) }
            } else {
                next.yield(try whole())
            }
            isCurrent = true
        }
    }

    /// Sends a message in place of a state. The next state is a whole one.
    func tell(_ message: String) {
        isCurrent.withLock { isCurrent in
            next.yield(message)
            isCurrent = false
        }
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
