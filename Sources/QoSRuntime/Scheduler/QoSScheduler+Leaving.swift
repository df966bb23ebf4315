import QoSCore

extension QoSScheduler {
    /// How often an actor's task tries to get away from a pool's thread before it goes on there.
    private static let attemptsToLeave = 8

    /// Moves the calling task to where it runs without the preference that has ended. An actor would otherwise stay on the
    /// pool's thread until it is next suspended.
    ///
    /// The task leaves the actor, then the thread, and comes back. If that thread has not given the actor up by then, it goes on with
    /// it, and the task tries again.
    nonisolated(nonsending) func leavePool(of qosClass: QoSClass) async {
        for _ in 0..<Self.attemptsToLeave {
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
        unsafe Worker.isCurrent(of: core.pools + qosClass.rank) && !prefersOwnExecutor
    }

    /// Whether the calling task prefers an executor of this scheduler, and so is where it belongs.
    private var prefersOwnExecutor: Bool {
        unsafe withUnsafeCurrentTask { task in
            guard let preferred = unsafe task?.unownedTaskExecutor else { return false }
            return (0...SchedulerCore.byPriorityIndex).contains { unsafe core.executorTable[$0] == preferred }
        }
    }
}
