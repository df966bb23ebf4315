import QoSCore

// Where a task runs changes with its preference only when it is next suspended. On an actor not even then, if the thread that has run it
// so far has not given the actor up when the task comes back: that thread goes on with it.

extension QoSScheduler {
    /// How often an actor's task tries to get onto a thread of the pool, or away from one, before it goes on where it is.
    private static let attempts = 8

    /// Moves the calling task to the executor that it prefers. Nothing happens if it is there already.
    ///
    /// - Parameter actor: to whose isolation the task comes back. Its thread until now must have given it up by then.
    @concurrent
    @inline(never)
    func enterPool(with actor: (any Actor)?) async {
        // The task is on the executor by now. Only a thread that has an actor without an executor of its own may keep it from there.
        guard let actor, unsafe ConcurrencyRuntime.isDefaultActor(actor.unownedExecutor) else { return }
        for _ in 0..<Self.attempts {
            if await isInside(on: actor) { return }
            await Task.yield()
        }
    }

    /// Whether the thread that has the actor is one of the scheduler's workers.
    private func isInside(on actor: isolated any Actor) -> Bool {
        QoSClass.allCases.contains { unsafe Worker.isCurrent(of: core.group.pools + $0.rank) }
    }

    /// Moves the calling task to where it runs without the preference that has ended. An actor would otherwise stay on the
    /// pool's thread until it is next suspended.
    ///
    /// The task leaves the actor, then the thread, and comes back.
    nonisolated(nonsending) func leavePool(of qosClass: QoSClass) async {
        for _ in 0..<Self.attempts {
            await leaveThread(of: qosClass)
            if !isStray(in: qosClass) { return }
        }
    }

    /// Outside of the actor: a yield within it would be answered by the thread that has it.
    @concurrent
    private func leaveThread(of qosClass: QoSClass) async {
        if isStray(in: qosClass) { await Task.yield() }
    }

    /// Whether the calling task is on a thread of the pool, and prefers none of this scheduler's executors.
    private func isStray(in qosClass: QoSClass) -> Bool {
        unsafe Worker.isCurrent(of: core.group.pools + qosClass.rank) && !prefersOwnExecutor
    }

    /// Whether the calling task prefers an executor of this scheduler, and so is where it belongs.
    private var prefersOwnExecutor: Bool {
        unsafe withUnsafeCurrentTask { task in
            guard let preferred = unsafe task?.unownedTaskExecutor else { return false }
            return (0..<ExecutorIndex.count).contains { unsafe core.group.executorTable[$0] == preferred }
        }
    }
}
