public import QoSCore

// The sources' events as sequences. Each source ends with the loop that awaits it, and each sequence with its
// scheduler. A sequence holds one event. Later events are merged into the next one until the loop takes it.

extension WorkQueue {
    /// Returns the arrivals of a signal, as `makeSignalSource(_:level:handler:)` counts them.
    public func signalEvents(_ signal: Int32, level: QoSLevel? = nil) async throws(WorkQueueError) -> AsyncStream<Int> {
        let buffer = EventBuffer<Int>()
        return buffer.stream(of: try await signalSource(signal, level, .stream(buffer)).begin())
    }

    /// Returns the changes of a file, as `makeFileSource(_:level:handler:)` reports them.
    ///
    /// If the loop is slow, an element keeps ``FileChanges/maximumNames`` names, and ``FileChanges/hasMoreNames`` says
    /// that there were more.
    public func fileEvents(
        _ path: String, level: QoSLevel? = nil
    ) async throws(WorkQueueError) -> AsyncStream<FileChanges> {
        let buffer = EventBuffer<FileChanges>()
        return buffer.stream(of: try await fileSource(path, level, .stream(buffer)).begin())
    }

    /// Suspends the task until a descriptor is ready. Blocks no thread.
    ///
    /// - Returns: the states for which the descriptor is ready; empty when the task was cancelled or the scheduler has
    ///   ended.
    /// - Throws: ``WorkQueueError/sourceUnavailable(_:)``.
    public func readiness(
        of descriptor: Int32, for events: DescriptorReadiness, level: QoSLevel? = nil
    ) async throws(WorkQueueError) -> DescriptorReadiness {
        let buffer = EventBuffer<DescriptorReadiness>()
        let source = try await descriptorSource(descriptor, events, level, .stream(buffer)).begin()
        defer { source.cancel() }
        for await ready in buffer.stream(of: source) { return ready }
        return []
    }
}
