import CQoSShims
import QoSCore
import QoSKernel
import Synchronization

extension QoSScheduler {
    /// How often an actor's task tries to get away from a pool's thread before it goes on there.
    private static let attemptsToLeave = 16

    /// Moves the calling task to where it runs without the preference that has ended. An actor would otherwise stay on the
    /// pool's thread until it is next suspended.
    ///
    /// The task leaves the actor and comes back. If it is back before the pool's thread has given the actor up, that thread goes
    /// on with it; so the task waits a moment for the end of that thread's job before it tries again.
    nonisolated(nonsending) func leavePool(of qosClass: QoSClass) async {
        var job: RunningJob?
        for _ in 0..<Self.attemptsToLeave {
            // Where code without an actor runs in the pool, too, the task has nowhere else to go.
            guard await core.isElsewhere(than: qosClass.rank, after: job), let current = core.currentJob(rank: qosClass.rank)
            else { return }
            job = current
        }
    }
}

/// What a worker runs at some moment.
struct RunningJob: Sendable {
    let rank: Int
    let worker: Int

    /// The worker's `jobSteps` then.
    let step: UInt64
}

extension SchedulerCore {
    /// How long the end of another thread's job is waited for, nanoseconds: several times of what giving an actor up takes.
    private static let longestLeave: UInt64 = 100_000

    /// What the calling thread runs, if it is a worker of the pool.
    fileprivate func currentJob(rank: Int) -> RunningJob? {
        guard unsafe Worker.isCurrent(of: pools + rank), let worker = unsafe Worker.current else { return nil }
        return unsafe RunningJob(
            rank: rank, worker: worker.pointee.index, step: worker.pointee.jobSteps.load(ordering: .relaxed))
    }

    /// Whether code without an actor runs elsewhere than in a pool; if so, it waits for the end of a job, as long as that is near.
    @concurrent
    fileprivate func isElsewhere(than rank: Int, after job: RunningJob?) async -> Bool {
        if unsafe Worker.isCurrent(of: pools + rank) { return false }
        guard let job else { return true }
        let worker = unsafe pools[job.rank].workers + job.worker
        let end = MonotonicClock.nanoseconds() &+ Self.longestLeave
        while unsafe worker.pointee.jobSteps.load(ordering: .relaxed) == job.step, MonotonicClock.nanoseconds() < end {
            cqos_spin_hint()
        }
        return true
    }
}
