import QoSCore
import QoSEventLoop
import QoSKernel
import Synchronization

// A worker whose thread waits in the kernel leaves its processor to another worker
// (`Docs/Inside/Protocols/blocking.md`).

extension PoolGroup {
    /// Notes that a worker's thread waits in the kernel, or is about to, with its job unfinished. The worker is no
    /// longer counted, and another worker may stand in for it.
    ///
    /// - Parameters:
    ///   - reason: the way in which this is known.
    ///   - step: the worker's `jobSteps` at that time; only for a detected worker, which may have left its job
    ///     meanwhile.
    /// - Returns: whether it was noted. If so, ``workerUnblocked(_:)`` has to take it back.
    func workerBlocked(_ worker: WorkerRef, _ reason: BlockingReason, step: UInt64? = nil) -> Bool {
        let pool = worker.pool
        guard pool.value.blocked.load(ordering: .relaxed) < ClassPool.mostCompensating else {
            let (before, _) = blocking.uncompensated.wrappingAdd(1, ordering: .relaxed)
            if before == 0 { reached(.standIns) }
            return false
        }
        // A raise changes the class that counts the worker, under the same lock.
        let admitted: AdmittedWorkers? = worker.value.boost.withLock { raise in
            let counted = raise.countedClass ?? pool.value.qosClass
            guard worker.value.change(.blocks(counted)) else { return nil }
            // A worker that has ended its job before it could see this will not take it back.
            worker.value.running.synchronize()
            if let step, worker.value.jobSteps != step {
                worker.value.change(.runs)
                return nil
            }
            places.sleeps(rank: pool.value.qosClass.rank, worker.index)
            worker.value.line.blocked(isDeclared: reason == .declared)
            return admission.workerBlocked(rank: counted.rank)
        }
        guard let admitted else { return false }
        pool.value.blocked.wrappingAdd(1, ordering: .sequentiallyConsistent)
        blocking.began(reason)
        pool.value.relieve(worker.index)
        wake(admitted)
        if pool.value.hasWork() { pool.value.wakeOne() }
        observe(.workerBlocked(worker.value.identity, reason))
        return true
    }

    /// Notes that the thread runs again, or that its job has ended. The worker is counted as before. Called by the
    /// worker, or by the loop that sees the thread run.
    ///
    /// - Parameter unlessDeclared: whether a declaration that the job has made meanwhile keeps the worker blocked.
    func workerUnblocked(_ worker: WorkerRef, unlessDeclared: Bool = false) {
        let pool = worker.pool
        let admitted: AdmittedWorkers? = worker.value.boost.withLock { raise in
            // A job that found its worker marked has declared before it took this lock.
            if unlessDeclared && worker.value.hasDeclaredBlocking.load(ordering: .relaxed) { return nil }
            guard let counted = worker.value.standing.blockedAs else { return nil }
            var admitted = admission.workerUnblocked(rank: counted.rank)
            // A raise may have come while the thread slept, without the right to raise the thread: from now on the
            // fence is of use.
            admitted.add(raiseMissingFence(&raise, of: worker, pool.value.qosClass))
            places.wakes(rank: pool.value.qosClass.rank, worker.index)
            // Not earlier: once a worker sees it taken back, it goes on, and may at once report that it is idle, and
            // park.
            worker.value.line.blocked(isDeclared: nil)
            worker.value.change(.runs)
            return admitted
        }
        guard let admitted else { return }
        pool.value.blocked.wrappingSubtract(1, ordering: .sequentiallyConsistent)
        blocking.ended()
        wake(admitted)
        observe(.workerUnblocked(worker.value.identity))
    }

    // MARK: The loop's look

    /// Looks at the workers in a job, and finds blocked ones and those whose job does not end. The loop's thread.
    func lookAtWorkers(at now: UInt64) {
        showLook(at: now)
        for rank in 0..<QoSClass.allCases.count {
            for index in 0..<pools[rank].started {
                look(at: pools[rank].workers.at(index), rank: rank, now)
            }
        }
    }

    private func look(at worker: WorkerRef, rank: Int, _ now: UInt64) {
        let thread = ThreadID(rawValue: worker.value.threadID.load(ordering: .relaxed))
        guard thread.rawValue != 0 else { return }
        let isBlocked = worker.value.isBlocked
        if !isBlocked && worker.value.boost.isUp.load(ordering: .relaxed) {
            let admitted: AdmittedWorkers? = worker.value.boost.withLockIfAvailable { raise in
                if worker.value.isBlocked { return AdmittedWorkers() }
                return raiseMissingFence(&raise, of: worker, QoSClass(atRank: rank))
            }
            if let admitted { wake(admitted) }
        }
        if !isBlocked && worker.value.isParked { return }
        let step = worker.value.jobSteps
        guard step & 1 == 1 else { return }
        worker.value.line.seen(in: step, at: now)
        // On a copy: a change in place would borrow the whole worker, whose thread goes on meanwhile.
        var latest = worker.value.lastLook
        let finding = latest.looked(
            step: step, used: { ThreadClock.nanoseconds(of: thread) }, now: now, limit: settings.stallLimits[rank])
        worker.value.lastLook = latest
        if let stalled = finding.stalledFor {
            blocking.stalls.wrappingAdd(1, ordering: .relaxed)
            pools[rank].counters.stalls.value.wrappingAdd(1, ordering: .relaxed)
            let isAsleep = finding.stoodStill && ThreadClock.isAsleep(thread, root: settings.fileRoot) == true
            record(stall: stalled, isBlocked: isAsleep, of: worker)
            observe(
                .jobStalled(
                    worker: worker.value.identity, duration: .nanoseconds(stalled), label: worker.value.jobLabel,
                    isAsleep ? .blocked : .computing))
        }
        if isBlocked {
            // A worker that declared it reports the end itself; for one that did not, running is the proof.
            if !finding.stoodStill { workerUnblocked(worker, unlessDeclared: true) }
        } else if settings.detectsBlocking, isTakenForBlocked(finding, thread, rank: rank) {
            _ = workerBlocked(worker, .detected, step: step)
        }
    }

    /// Returns whether a worker that stands still is blocked, and its processor to be given to others.
    ///
    /// A worker of the two high classes that waits for a lock does not count as blocked at first. Work of a low class
    /// may hold the lock. The more workers of the classes between are admitted instead, the longer that work would
    /// wait.
    private func isTakenForBlocked(_ finding: WorkerLook.Finding, _ thread: ThreadID, rank: Int) -> Bool {
        if finding.stoodStillForLong { return ThreadClock.isAsleep(thread, root: settings.fileRoot) == true }
        guard finding.beganToStandStill, ThreadClock.isAsleep(thread, root: settings.fileRoot) == true else {
            return false
        }
        return rank < QoSClass.userInitiated.rank || !ThreadClock.waitsForLock(thread, root: settings.fileRoot)
    }

    /// Notes that a worker's thread that stood in for another ends. The worker's thread.
    func workerRetires(_ worker: WorkerRef) {
        places.sleeps(rank: worker.qosClass.rank, worker.index)
        worker.value.accountThread()
        worker.value.change(.ends)
        workersLeft.wrappingSubtract(1, ordering: .sequentiallyConsistent)
        loop.wake()
    }
}
