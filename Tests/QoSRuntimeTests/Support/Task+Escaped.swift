extension Task where Failure == Never {
    /// The value, waited for without raising the task's priority, as awaiting ``value`` does.
    nonisolated(nonsending) var escaped: Success {
        get async {
            await withCheckedContinuation { continuation in
                Task<Void, Never>.detached(priority: .background) {
                    continuation.resume(returning: await value)
                }
            }
        }
    }
}
