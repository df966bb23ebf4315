extension Task {
    /// The outcome, waited for without raising the task, as awaiting ``value`` does.
    nonisolated(nonsending) fileprivate var outcome: Result<Success, Failure> {
        get async {
            await withCheckedContinuation { continuation in
                Task<Void, Never>.detached(priority: .background) {
                    continuation.resume(returning: await self.result)
                }
            }
        }
    }
}

extension Task where Failure == Never {
    /// The value, waited for without raising the task.
    nonisolated(nonsending) package var escaped: Success {
        get async { await outcome.get() }
    }
}

extension Task where Failure == any Error {
    /// The value, waited for without raising the task.
    nonisolated(nonsending) package var escaped: Success {
        get async throws { try await outcome.get() }
    }
}
