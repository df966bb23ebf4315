import QoSCore
import QoSKernel

/// A waiter for an operation or a queue: a suspended task or a blocked thread.
struct Waiter: Sendable {
    enum Sleeper: Sendable {
        case task(CheckedContinuation<OperationError?, Never>)
        case thread(BlockedThread)
    }

    let sleeper: Sleeper

    /// The waiter's wait in the graph; `nil` for code that runs in no operation.
    let wait: OperationGraph.BegunWait?

    /// Resumes the waiter; not under a lock.
    ///
    /// - Parameter refusal: the reason why its wait ends without its target.
    func resume(_ refusal: OperationError? = nil) {
        switch sleeper {
        case .task(let continuation): continuation.resume(returning: refusal)
        case .thread(let thread):
            thread.refusal.withLock { $0 = refusal }
            thread.parker.unpark()
        }
    }
}

/// A thread that waits for an operation or a queue.
final class BlockedThread: Sendable {
    let parker = Parker()

    /// The reason why the wait has ended without its target.
    let refusal = Lock<OperationError?>(nil)
}

extension [Waiter] {
    /// Takes out the waiter of a wait in the graph.
    mutating func take(_ wait: OperationGraph.BegunWait) -> Waiter? {
        firstIndex { $0.wait == wait }.map { remove(at: $0) }
    }
}
