import QoSCore
import QoSKernel

/// Somebody is to be raised because somebody waits. Performed or discarded exactly once, outside of every lock.
struct LockRaise: Sendable {
    enum Means {
        case thread(ThreadRaise)
        /// The thread sleeps until something ends that is no lock: that is raised, too.
        case awaited(ThreadRaise?, ThreadAwaiting, LevelCode)
        /// Retained until it has been raised.
        case task(TaskAddress, QoSClass)
        /// A child of an `async let`, which lives in its parent's memory: it may end while somebody looks at it.
        case impossible
    }

    let party: LockParty
    let means: Means

    /// Raises nobody, since the wait was refused.
    func discard() {
        if case .task(let task, _) = means { ConcurrencyRuntime.release(task) }
    }

    /// Raises; any thread.
    ///
    /// - Returns: why that could not be done; `nil` when it was, or was not necessary.
    func perform() -> String? {
        switch means {
        case .thread(let thread):
            return thread.raise()
        case .awaited(let thread, let awaiting, let level):
            awaiting.awaited.raised(to: level)
            return thread?.raise()
        case .task(let task, let qosClass):
            ConcurrencyRuntime.escalateAndRelease(task, to: qosClass)
            // So that the scheduler looks for it, wherever it waits.
            if let worker = unsafe Worker.current { unsafe worker.pointee.pool.pointee.group.calls.noteBacklog() }
            return nil
        case .impossible:
            return "a child task of an async let cannot be raised: use a task group or an unstructured task"
        }
    }
}
