import QoSRuntime

extension WorkQueue {
    /// Runs a closure as an item of the queue whose result is awaited without raising it, as ``run(level:flags:_:)``
    /// would.
    @discardableResult
    func quietly<Success: Sendable>(_ body: @escaping @Sendable () throws -> Success) async throws -> Success {
        try await withCheckedThrowingContinuation { continuation in
            async { continuation.resume(with: Result { try body() }) }
        }
    }
}
