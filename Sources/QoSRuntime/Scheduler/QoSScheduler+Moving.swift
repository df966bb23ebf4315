import QoSCore

// A changed preference moves a task only at its next suspension. On an actor even that may not move it: if its thread
// has not given the actor up when the task comes back, that thread goes on with it.

extension QoSScheduler {
    /// The number of times that an actor's task tries to get onto a thread of the pool, or away from one. Then it goes
    /// on where it is.
    private static let attempts = 8

    /// Moves the calling task to its preferred executor. Does nothing if the task is there already.
    ///
    /// - Parameter actor: the actor to whose isolation the task comes back. The task's previous thread must have given
    ///   it up by then.
    @concurrent
    @inline(never)
    func enterPool(with actor: (any Actor)?) async {
        // The task is on the executor by now. Only a thread that has an actor without an executor of its own may keep
        // it away.
        guard let actor, unsafe ConcurrencyRuntime.isDefaultActor(actor.unownedExecutor) else { return }
        for _ in 0..<Self.attempts {
            if await isInside(on: actor) { return }
            await Task.yield()
        }
    }

    /// Whether the thread that has the actor is one of the scheduler's workers.
    private func isInside(on actor: isolated any Actor) -> Bool {
        QoSClass.allCases.contains { Worker.isCurrent(of: core.group.pools.at($0.rank)) }
    }

    /// Moves the calling task away from the executor whose preference has ended. An actor would otherwise stay on the
    /// pool's thread until its next suspension.
    ///
    /// The task leaves the actor, then the thread, and comes back.
    ///
    /// - Parameter actor: the actor to whose isolation the task has come back. One with an executor of its own has not
    ///   gone along.
    nonisolated(nonsending) func leavePool(of qosClass: QoSClass, with actor: (any Actor)?) async {
        if let actor, unsafe !ConcurrencyRuntime.isDefaultActor(actor.unownedExecutor) { return }
        for _ in 0..<Self.attempts where isStray(in: qosClass) {
            guard await leaveThread(of: qosClass) else { return }
        }
    }

    /// Leaves the actor and its thread. On the way back, the actor follows the task, if it has no other call.
    ///
    /// - Returns: `false` if the process's default executor runs the task in the pool, where it belongs then.
    @concurrent
    private func leaveThread(of qosClass: QoSClass) async -> Bool {
        if isStray(in: qosClass) { await withTaskExecutorPreference(ForwardingExecutor.shared) {} }
        return !isStray(in: qosClass)
    }

    /// Whether the calling task is on a thread of the pool, and prefers none of this scheduler's executors.
    private func isStray(in qosClass: QoSClass) -> Bool {
        Worker.isCurrent(of: core.group.pools.at(qosClass.rank)) && !prefersOwnExecutor
    }

    /// Whether the calling task prefers an executor of this scheduler, and so is in the right place.
    private var prefersOwnExecutor: Bool {
        unsafe withUnsafeCurrentTask { task in
            guard let preferred = unsafe task?.unownedTaskExecutor else { return false }
            return (0..<ExecutorIndex.count).contains { unsafe core.group.executorTable[$0] == preferred }
        }
    }
}
