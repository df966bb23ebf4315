import QoSCore
import QoSKernel
import Synchronization

// Two connections in one process, without a descriptor. Bytes go from one machine to the other on the thread that
// flushes. It is what a program uses that keeps its helper in its own process, and what tests use.
//
// A flush may lead to another one: a delivered request's error is a reply. So only one thread at a time moves bytes, the
// pump. Others leave a count, and the pump goes around once more for them. No lock is held while bytes are delivered.

/// The pipe between two connections.
final class InProcessPipe: Transport {
    private struct Ends {
        var first: Connection?
        var second: Connection?
    }

    private let ends: Lock<Ends>
    private let flushes = Atomic<Int>(0)

    /// Connects two connections, and starts both.
    ///
    /// - Parameter onEnd: called when the second one has ended.
    static func connect(_ first: Connection, _ second: Connection, onEnd: @escaping @Sendable () -> Void) {
        let pipe = InProcessPipe(first, second)
        second.start(pipe, onEnd: onEnd)
        first.start(pipe)
    }

    private init(_ first: Connection, _ second: Connection) {
        ends = Lock(Ends(first: first, second: second))
    }

    func flush() {
        guard flushes.wrappingAdd(1, ordering: .acquiringAndReleasing).oldValue == 0 else { return }
        var seen = 0
        repeat {
            seen = flushes.load(ordering: .acquiring)
            let (first, second) = ends.withLock { ($0.first, $0.second) }
            if let first, let second {
                Self.move(from: first, to: second)
                Self.move(from: second, to: first)
                if first.isOver || second.isOver { end(first, second) }
            }
        } while flushes.wrappingSubtract(seen, ordering: .acquiringAndReleasing).newValue != 0
    }

    private static func move(from: Connection, to: Connection) {
        var deferred = Connection.Deferred()
        while case let bytes = from.takeOutput(&deferred), !bytes.isEmpty { to.receive(bytes[...]) }
        from.perform(deferred)
    }

    /// Cuts the pipe. The side that has not ended has lost its peer.
    private func end(_ first: Connection, _ second: Connection) {
        // What the side that ended later still had to say.
        Self.move(from: first, to: second)
        Self.move(from: second, to: first)
        let isFirst = ends.withLock { ends in
            defer { ends = Ends() }
            return ends.first != nil
        }
        guard isFirst else { return }
        for side in [first, second] {
            side.lose(nil)
            side.detach()
        }
    }
}
