import QoSKernel

/// A waiter for an operation or a queue: a suspended task or a blocked thread.
enum Waiter: Sendable {
    case task(CheckedContinuation<Void, Never>)
    case thread(BlockedThread)

    /// Resumes the waiter; not under a lock.
    func resume() {
        switch self {
        case .task(let continuation): continuation.resume()
        case .thread(let thread): thread.parker.unpark()
        }
    }
}

/// A thread that waits for an operation or a queue.
final class BlockedThread: Sendable {
    let parker = Parker()
}
