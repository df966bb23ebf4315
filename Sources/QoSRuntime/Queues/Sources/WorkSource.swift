/// Brings events to a handler on a queue, from when it is made until it is cancelled or released.
///
/// Handlers are detached (rule B10): they run at the queue's level, or at the one that the source was made with. Calls follow
/// one another; what happens before the handler has run is merged into its next call. With the scheduler's end no more
/// events come.
///
/// Threading: any thread.
public final class WorkSource: Sendable {
    private let core: any CancellableSource

    /// - Parameter core: begins to be kept by its scheduler.
    init(_ core: some CancellableSource, of scheduler: SchedulerCore) {
        self.core = core
        scheduler.sources.add(core)
    }

    deinit {
        core.cancel()
    }

    /// Ends the source: no call of the handler begins after this returned; one that has begun goes on.
    public func cancel() {
        core.cancel()
    }

    /// Does something at the source's end, also at that of its scheduler.
    func onCancel(_ body: @escaping @Sendable () -> Void) {
        core.onCancel(body)
    }
}
