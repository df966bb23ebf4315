import QoSKernel

/// Sends the newest of numbered states to a stream, in their order, from any thread.
///
/// A state leaves the lock that it belongs to before it is sent, so an older one may come late: it is passed over. The
/// stream is called by one thread at a time, and under no lock. A thread that comes meanwhile leaves its state to the
/// one that sends.
///
/// Threading: any thread.
final class StateSender<State: Sendable>: Sendable {
    private struct Pending {
        /// The number of the newest state.
        var number: UInt64 = 0
        /// The newest state, if it was not sent.
        var state: State?
        var isLast = false
        var isSending = false
    }

    private let continuation: AsyncStream<State>.Continuation
    private let pending = Lock(Pending())

    init(_ continuation: AsyncStream<State>.Continuation) {
        self.continuation = continuation
    }

    /// Sends a state, unless a newer one came before.
    ///
    /// - Parameters:
    ///   - state: the state.
    ///   - number: its number; positive, and higher than those of all older states.
    ///   - isLast: whether the stream ends with it.
    func send(_ state: State, _ number: UInt64, isLast: Bool = false) {
        let sends = pending.withLock { pending in
            guard number > pending.number else { return false }
            (pending.number, pending.state, pending.isLast) = (number, state, isLast)
            defer { pending.isSending = true }
            return !pending.isSending
        }
        guard sends else { return }
        while let next = next() {
            continuation.yield(next.state)
            if next.isLast { continuation.finish() }
        }
    }

    private func next() -> (state: State, isLast: Bool)? {
        pending.withLock { pending -> (state: State, isLast: Bool)? in
            guard let state = pending.state else {
                pending.isSending = false
                return nil
            }
            pending.state = nil
            return (state, pending.isLast)
        }
    }
}
