import QoSCore

extension QoSScheduler {
    /// How often an actor's task tries to get away from a pool's thread before it goes on there.
    private static let attemptsToLeave = 16

    /// Moves the calling task to where it runs without the preference that has ended. An actor would otherwise stay on the
    /// pool's thread until it is next suspended.
    ///
    /// The thread that has the actor may take it up again after the yield, before anybody else does; so it is tried more than once.
    nonisolated(nonsending) func leavePool(of qosClass: QoSClass) async {
        for _ in 0..<Self.attemptsToLeave {
            await Self.enterPreferredPool()
            guard unsafe Worker.isCurrent(of: core.pools + qosClass.rank), !prefersOwnExecutor else { return }
            await Task.yield()
        }
    }

    /// Whether the calling task prefers an executor of this scheduler, and so is where it belongs.
    private var prefersOwnExecutor: Bool {
        unsafe withUnsafeCurrentTask { task in
            guard let preferred = unsafe task?.unownedTaskExecutor else { return false }
            return unsafe (0..<PoolExecutor.count).contains { unsafe core.executorTable[$0] == preferred }
        }
    }
}
