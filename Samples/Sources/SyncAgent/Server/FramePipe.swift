internal import Synchronization

/// Hands bytes from one task to another, some pieces at a time: the sender waits for a slow client.
final class FramePipe: Sendable {
    private struct State {
        var queue: [[UInt8]] = []
        var isFinished = false
        var isAbandoned = false
        var reader: CheckedContinuation<[UInt8]?, Never>?
        var sender: CheckedContinuation<Void, Never>?
    }

    private static let limit = 4
    private let state = Mutex(State())

    /// Sends a piece. Waits while the reader has enough to do. One task at a time.
    ///
    /// - Throws: `CancellationError`.
    func send(_ bytes: [UInt8]) async throws {
        try Task.checkCancellation()
        await withTaskCancellationHandler {
            await withCheckedContinuation { sender in
                var reader: CheckedContinuation<[UInt8]?, Never>?
                let mayGoOn = state.withLock { state in
                    reader = state.reader.take()
                    if reader == nil { state.queue.append(bytes) }
                    guard reader == nil, !state.isAbandoned, state.queue.count >= Self.limit else { return true }
                    state.sender = sender
                    return false
                }
                reader?.resume(returning: bytes)
                if mayGoOn { sender.resume() }
            }
        } onCancel: {
            let sender = state.withLock { state in
                state.isAbandoned = true
                return state.sender.take()
            }
            sender?.resume()
        }
        try Task.checkCancellation()
    }

    /// Ends the pieces.
    func finish() {
        let reader = state.withLock { state in
            state.isFinished = true
            return state.reader.take()
        }
        reader?.resume(returning: nil)
    }

    /// Returns the next piece; nil behind the last one. One task at a time.
    func next() async -> [UInt8]? {
        await withCheckedContinuation { reader in
            var sender: CheckedContinuation<Void, Never>?
            let piece: [UInt8]?? = state.withLock { state in
                if !state.queue.isEmpty {
                    sender = state.sender.take()
                    return .some(state.queue.removeFirst())
                }
                if state.isFinished { return .some(nil) }
                state.reader = reader
                return nil
            }
            sender?.resume()
            if let piece { reader.resume(returning: piece) }
        }
    }
}
