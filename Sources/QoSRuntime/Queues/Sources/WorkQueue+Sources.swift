public import QoSCore
import QoSEventLoop
import QoSKernel

// Sources on the scheduler's event loop (rules B10, B14). The asynchronous forms suspend the caller until the loop
// watches. The synchronous forms block the calling thread, for as long as a wake-up of the loop's thread takes.

extension WorkQueue {
    /// Watches a signal. The handler runs on the queue, detached (rule B10).
    ///
    /// While a source exists, the signal's default action does not happen (`signal(7)`).
    ///
    /// - Parameters:
    ///   - signal: its number, such as `SIGHUP`.
    ///   - level: the handler's own level.
    ///   - handler: gets the number of arrivals since its last call. Arrivals in quick succession may count as one.
    /// - Throws: ``WorkQueueError/sourceUnavailable(_:)``.
    public func makeSignalSource(
        _ signal: Int32, level: QoSLevel? = nil, handler: @escaping @Sendable (Int) -> Void
    ) async throws(WorkQueueError) -> WorkSource {
        try await signalSource(signal, level, .handler(handler)).begin()
    }

    /// Watches a signal, from synchronous code. Blocks the calling thread until the loop watches.
    @available(*, noasync)
    public func makeSignalSource(
        _ signal: Int32, level: QoSLevel? = nil, handler: @escaping @Sendable (Int) -> Void
    ) throws(WorkQueueError) -> WorkSource {
        try signalSource(signal, level, .handler(handler)).beginBlocking()
    }

    /// Watches a descriptor. The handler runs on the queue, detached (rule B10).
    ///
    /// The descriptor is set to non-blocking mode and is not owned. The source keeps a copy of it until its end. So
    /// call ``WorkSource/cancel()`` when you close the descriptor: a peer learns of the end when both are closed.
    ///
    /// Readiness is a level: the handler is called again as long as it has not used up the readiness, but not before it
    /// has returned.
    ///
    /// - Parameters:
    ///   - descriptor: an open pipe, socket, terminal or event descriptor.
    ///   - events: the states to wait for.
    ///   - level: the handler's own level.
    ///   - handler: gets the states for which the descriptor is ready.
    /// - Throws: ``WorkQueueError/sourceUnavailable(_:)``, also for a regular file.
    public func makeDescriptorSource(
        _ descriptor: Int32, for events: DescriptorReadiness, level: QoSLevel? = nil,
        handler: @escaping @Sendable (DescriptorReadiness) -> Void
    ) async throws(WorkQueueError) -> WorkSource {
        try await descriptorSource(descriptor, events, level, .handler(handler)).begin()
    }

    /// Watches a descriptor, from synchronous code. Blocks the calling thread until the loop watches.
    @available(*, noasync)
    public func makeDescriptorSource(
        _ descriptor: Int32, for events: DescriptorReadiness, level: QoSLevel? = nil,
        handler: @escaping @Sendable (DescriptorReadiness) -> Void
    ) throws(WorkQueueError) -> WorkSource {
        try descriptorSource(descriptor, events, level, .handler(handler)).beginBlocking()
    }

    /// Watches a file, or a directory and the files in it. The handler runs on the queue, detached (rule B10).
    ///
    /// Not recursive. Events are hints, to be followed by a look (`inotify(7)`). A file that gets the path of the
    /// watched one is watched from then on. When the path of a file names nothing any more, ``FileChanges/failure``
    /// says so.
    ///
    /// - Parameters:
    ///   - path: the path of an existing file or directory. A symbolic link is followed.
    ///   - level: the handler's own level.
    ///   - handler: gets the changes since its last call.
    /// - Throws: ``WorkQueueError/sourceUnavailable(_:)``.
    public func makeFileSource(
        _ path: String, level: QoSLevel? = nil, handler: @escaping @Sendable (FileChanges) -> Void
    ) async throws(WorkQueueError) -> WorkSource {
        try await fileSource(path, level, .handler(handler)).begin()
    }

    /// Watches a file, from synchronous code. Blocks the calling thread until the loop watches.
    @available(*, noasync)
    public func makeFileSource(
        _ path: String, level: QoSLevel? = nil, handler: @escaping @Sendable (FileChanges) -> Void
    ) throws(WorkQueueError) -> WorkSource {
        try fileSource(path, level, .handler(handler)).beginBlocking()
    }
}

extension WorkQueue {
    func signalSource(
        _ signal: Int32, _ level: QoSLevel?, _ receiver: SourceCore<Int>.Receiver
    ) -> PendingSource<Int> {
        let source = SourceCore<Int>(queue: core, level: level, receiver: receiver, merge: +)
        let loop = core.core.loop
        return PendingSource(core: source) { () throws(EventLoopError) in
            let watch = try loop.watchSignal(signal) { source.happened(1) }
            source.onCancel { watch.close() }
        }
    }

    func fileSource(
        _ path: String, _ level: QoSLevel?, _ receiver: SourceCore<FileChanges>.Receiver
    ) -> PendingSource<FileChanges> {
        let source = SourceCore<FileChanges>(
            queue: core, level: level, receiver: receiver, merge: { $0.merged(with: $1) })
        let loop = core.core.loop
        return PendingSource(core: source) { () throws(EventLoopError) in
            let watch = try loop.watchFile(path) { source.happened(FileChanges($0)) }
            source.onCancel { watch.close() }
        }
    }

    func descriptorSource(
        _ descriptor: Int32, _ events: DescriptorReadiness, _ level: QoSLevel?,
        _ receiver: SourceCore<DescriptorReadiness>.Receiver
    ) -> PendingSource<DescriptorReadiness> {
        let loop = core.core.loop
        let watched = WatchedDescriptor()
        let source = SourceCore<DescriptorReadiness>(
            queue: core, level: level, receiver: receiver, merge: { $0.union($1) },
            handled: { _, ready in
                // A descriptor in an error state stays ready for that forever.
                guard !ready.contains(.failed) else { return }
                // The loop refuses only after its end. No more events come then.
                try? loop.submit { try? watched.watch?.update(events.watched) }
            })
        return PendingSource(core: source) { () throws(EventLoopError) in
            let watch = try loop.watchCopy(of: descriptor, for: events.watched) { outcome in
                // Paused until the handler has run. Else it would be told of the same readiness over and over.
                try? watched.watch?.update([])
                source.happened(DescriptorReadiness(outcome))
            }
            // Set here, so that the first event finds the watch.
            watched.set(watch)
            source.onCancel {
                watched.set(nil)
                watch.close()
            }
        }
    }
}

/// The watch of a descriptor's source, for the handlers that pause and continue it.
final class WatchedDescriptor: Sendable {
    private let state = Lock<DescriptorWatch?>(nil)

    /// The watch; `nil` before it has been made and after its end.
    var watch: DescriptorWatch? { state.withLock { $0 } }

    func set(_ watch: DescriptorWatch?) {
        state.withLock { $0 = watch }
    }
}
