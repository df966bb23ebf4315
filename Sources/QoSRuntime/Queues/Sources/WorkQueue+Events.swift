public import QoSCore

// The sources' events, to be awaited. Each source ends with the loop that awaits it, and each sequence with its
// scheduler.

extension WorkQueue {
    /// The arrivals of a signal, as ``makeSignalSource(_:level:handler:)`` counts them.
    public func signalEvents(_ signal: Int32, level: QoSLevel? = nil) async throws(WorkQueueError) -> AsyncStream<Int> {
        let (stream, continuation) = AsyncStream.makeStream(of: Int.self)
        let source = try await makeSignalSource(signal, level: level) { continuation.yield($0) }
        source.onCancel { continuation.finish() }
        continuation.onTermination = { _ in source.cancel() }
        return stream
    }

    /// What happens to a file, as ``makeFileSource(_:level:handler:)`` tells it.
    public func fileEvents(
        _ path: String, level: QoSLevel? = nil
    ) async throws(WorkQueueError) -> AsyncStream<FileChanges> {
        let (stream, continuation) = AsyncStream.makeStream(of: FileChanges.self)
        let source = try await makeFileSource(path, level: level) { continuation.yield($0) }
        source.onCancel { continuation.finish() }
        continuation.onTermination = { _ in source.cancel() }
        return stream
    }

    /// Waits, without blocking a thread, until a descriptor is ready.
    ///
    /// - Returns: what it is ready for; empty when the task was cancelled or the scheduler has ended.
    /// - Throws: ``WorkQueueError/sourceUnavailable(_:)``.
    public func readiness(
        of descriptor: Int32, for events: DescriptorReadiness, level: QoSLevel? = nil
    ) async throws(WorkQueueError) -> DescriptorReadiness {
        let (stream, continuation) = AsyncStream.makeStream(of: DescriptorReadiness.self)
        let source = try await makeDescriptorSource(descriptor, for: events, level: level) { ready in
            continuation.yield(ready)
            continuation.finish()
        }
        source.onCancel { continuation.finish() }
        defer { source.cancel() }
        for await ready in stream { return ready }
        return []
    }
}
