import Foundation

/// Runs a body that blocks on a thread of its own, and suspends the task meanwhile.
public func onThread<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
    await withCheckedContinuation { continuation in
        Thread.detachNewThread { continuation.resume(returning: body()) }
    }
}
