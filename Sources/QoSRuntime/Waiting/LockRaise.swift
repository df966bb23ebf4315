import QoSCore
import QoSKernel

/// A raise of a thread or task for a waiter. Performed or discarded exactly once, outside of every lock.
struct LockRaise: Sendable {
    enum Means {
        case thread(ThreadRaise)
        /// A thread that sleeps until its target (``ThreadWaitTarget``) ends. The target is raised too.
        case awaited(ThreadRaise?, ThreadTargetWait, LevelCode)
        /// A task, retained until it has been raised.
        case task(TaskAddress, QoSClass)
        /// A child of an `async let`, which lives in its parent's memory: it may end during a look at it.
        case impossible
    }

    let party: LockParticipant
    let means: Means

    /// Drops the raise of a task: the wait was refused.
    func discard() {
        if case .task(let task, _) = means { ConcurrencyRuntime.release(task) }
    }

    /// Performs the raise. Any thread.
    ///
    /// - Parameter lock: the name of the lock for which the calling thread or task waits, for the observer.
    /// - Returns: the reason why that was not possible; `nil` when it was, or was not necessary.
    func perform(for lock: String? = nil) -> String? {
        switch means {
        case .thread(let thread):
            return Self.raise(thread, for: lock)
        case .awaited(let thread, let awaiting, let level):
            LockRegistry.shared.raise(awaiting, of: party, to: level)
            return thread.flatMap { Self.raise($0, for: lock) }
        case .task(let task, let qosClass):
            ConcurrencyRuntime.escalateAndRelease(task, to: qosClass)
            // Makes the scheduler look for the task, wherever it waits.
            if let worker = Worker.current { worker.group.calls.noteBacklog() }
            return nil
        case .impossible:
            return "a child task of an async let cannot be raised: use a task group or an unstructured task"
        }
    }

    /// The thread may give back what it is raised for meanwhile. It then leaves the removal of its raise to this look.
    private static func raise(_ thread: ThreadRaise, for lock: String?) -> String? {
        defer { LockRegistry.shared.tidy(thread) }
        return thread.raise(for: lock)
    }
}
