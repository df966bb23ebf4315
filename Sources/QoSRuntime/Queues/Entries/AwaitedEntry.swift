import QoSCore
import QoSKernel

/// A closure whose result a task awaits.
// SAFETY: as the base class; the additional fields never change, or are guarded.
final class AwaitedEntry<Success: Sendable>: WorkEntry, @unchecked Sendable {
    private enum Progress {
        case waiting(CheckedContinuation<Success, any Error>?)
        case begun
        case cancelled
    }

    private let body: @Sendable () throws -> Success
    private let context: CarriedContext?
    private let progress = Lock(Progress.waiting(nil))

    init(
        queue: QueueCore, level: LevelCode, isBarrier: Bool, waiter: LevelCode, context: CarriedContext?,
        onShutdown: ShutdownBehavior?, body: @escaping @Sendable () throws -> Success
    ) {
        self.body = body
        self.context = context
        super.init(queue: queue, level: level, isBarrier: isBarrier, onShutdown: onShutdown)
        if waiter != .none { waits = [waiter] }
    }

    /// - Returns: `false` when the entry was already cancelled. The continuation is then not kept.
    func awaited(by continuation: CheckedContinuation<Success, any Error>) -> Bool {
        progress.withLock { progress in
            if case .cancelled = progress { return false }
            progress = .waiting(continuation)
            return true
        }
    }

    /// Cancels the entry with its task: the closure does not run unless it has begun.
    func cancel() {
        guard let continuation = take(leaving: .cancelled) else { return }
        queue.waitsEnded(for: self)
        continuation.resume(throwing: CancellationError())
    }

    override func passOver() {
        cancel()
    }

    override func perform() {
        guard let continuation = take(leaving: .begun) else { return }
        var result: Result<Success, any Error>?
        CarriedContext.run(context) { result = Result { try body() } }
        if let result { continuation.resume(with: result) }
    }

    private func take(leaving next: Progress) -> CheckedContinuation<Success, any Error>? {
        progress.withLock { progress in
            guard case .waiting(let continuation) = progress else { return nil }
            progress = next
            return continuation
        }
    }
}
