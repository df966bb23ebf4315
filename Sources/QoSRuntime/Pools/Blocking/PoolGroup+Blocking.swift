import QoSCore
import QoSEventLoop
import QoSKernel
import Synchronization

// A worker whose thread waits in the kernel leaves its processor to another worker (`Docs/Protocols/blocking.md`).

extension PoolGroup {
    /// Notes that a worker's thread waits in the kernel, or is about to, with its job unfinished. The worker is no
    /// longer counted, and another worker may stand in for it.
    ///
    /// - Parameters:
    ///   - reason: the way in which this is known.
    ///   - step: the worker's `jobSteps` at that time; only for a detected worker, which may have left its job
    ///     meanwhile.
    /// - Returns: whether it was noted. If so, ``workerUnblocked(_:)`` has to take it back.
    func workerBlocked(_ worker: UnsafeMutablePointer<Worker>, _ reason: BlockingReason, step: UInt64? = nil) -> Bool {
        let pool = unsafe worker.pointee.pool
        guard unsafe pool.pointee.blocked.load(ordering: .relaxed) < ClassPool.mostCompensating else {
            blocking.uncompensated.wrappingAdd(1, ordering: .relaxed)
            return false
        }
        // A boost changes the class that counts the worker, under the same lock.
        let admitted: AdmittedWorkers? = unsafe worker.pointee.boost.withLock { boost in
            guard unsafe worker.pointee.standing.load(ordering: .relaxed) == .counted else { return nil }
            let counted = unsafe boost.flatMap(\.countedClass) ?? pool.pointee.qosClass
            unsafe worker.pointee.standing.store(.blocked(as: counted), ordering: .sequentiallyConsistent)
            // A worker that has ended its job before it could see this will not take it back.
            unsafe worker.pointee.running.synchronize()
            if let step, unsafe worker.pointee.jobSteps.load(ordering: .relaxed) != step {
                unsafe worker.pointee.standing.store(.counted, ordering: .sequentiallyConsistent)
                return nil
            }
            unsafe places.sleeps(rank: pool.pointee.qosClass.rank, worker.pointee.index)
            return admission.workerBlocked(rank: counted.rank)
        }
        guard let admitted else { return false }
        unsafe pool.pointee.blocked.wrappingAdd(1, ordering: .sequentiallyConsistent)
        blocking.began(reason)
        unsafe pool.pointee.relieve(worker.pointee.index)
        wake(admitted)
        if unsafe pool.pointee.hasWork() { unsafe pool.pointee.wakeOne() }
        unsafe observe(.workerBlocked(worker.pointee.identity, reason))
        return true
    }

    /// Notes that the thread runs again, or that its job has ended. The worker is counted as before. Called by the
    /// worker, or by the loop that sees the thread run.
    func workerUnblocked(_ worker: UnsafeMutablePointer<Worker>) {
        let pool = unsafe worker.pointee.pool
        let admitted: AdmittedWorkers? = unsafe worker.pointee.boost.withLock { boost in
            guard let counted = unsafe worker.pointee.standing.load(ordering: .relaxed).blockedAs else { return nil }
            var admitted = admission.workerUnblocked(rank: counted.rank)
            // A raise may have come while the thread slept, without the right to raise the thread: from now on the
            // fence is of use.
            unsafe admitted.add(raiseMissingFence(&boost, holder: pool.pointee.qosClass))
            unsafe places.wakes(rank: pool.pointee.qosClass.rank, worker.pointee.index)
            // Not earlier: once a worker sees it taken back, it goes on, and may at once report that it is idle, and
            // park.
            unsafe worker.pointee.standing.store(.counted, ordering: .sequentiallyConsistent)
            return admitted
        }
        guard let admitted else { return }
        unsafe pool.pointee.blocked.wrappingSubtract(1, ordering: .sequentiallyConsistent)
        blocking.ended()
        wake(admitted)
        unsafe observe(.workerUnblocked(worker.pointee.identity))
    }

    /// Puts up the missing fence of a raise: the worker was blocked, enough fences were up, or admission's lock was
    /// taken.
    private func raiseMissingFence(_ boost: inout WorkerBoost?, holder: QoSClass) -> AdmittedWorkers {
        guard let raised = boost, case .fence(nil) = raised.means else { return AdmittedWorkers() }
        let (fence, admitted) = admission.fenceRaised(upTo: raised.qosClass, holder: holder)
        boost = WorkerBoost(qosClass: raised.qosClass, means: .fence(fence), endsWithLock: raised.endsWithLock)
        return admitted
    }

    // MARK: The loop's look

    /// Looks at the workers in a job, and finds blocked ones and those whose job does not end. The loop's thread.
    func lookAtWorkers(at now: UInt64) {
        for rank in 0..<QoSClass.allCases.count {
            for index in unsafe 0..<pools[rank].started {
                unsafe look(at: pools[rank].workers + index, rank: rank, now)
            }
        }
    }

    private func look(at worker: UnsafeMutablePointer<Worker>, rank: Int, _ now: UInt64) {
        let thread = ThreadID(rawValue: unsafe worker.pointee.threadID.load(ordering: .relaxed))
        guard thread.rawValue != 0 else { return }
        let isBlocked = unsafe worker.pointee.isBlocked
        if unsafe !isBlocked && worker.pointee.isBoosted.load(ordering: .relaxed) {
            let admitted: AdmittedWorkers? = unsafe worker.pointee.boost.withLockIfAvailable { boost in
                if unsafe worker.pointee.isBlocked { return AdmittedWorkers() }
                return raiseMissingFence(&boost, holder: QoSClass(atRank: rank))
            }
            if let admitted { wake(admitted) }
        }
        if unsafe !isBlocked && worker.pointee.isParked { return }
        let step = unsafe worker.pointee.jobSteps.load(ordering: .sequentiallyConsistent)
        guard step & 1 == 1 else { return }
        // On a copy: a change in place would borrow the whole worker, whose thread goes on meanwhile.
        var latest = unsafe worker.pointee.lastLook
        let finding = latest.looked(
            step: step, used: { ThreadClock.nanoseconds(of: thread) }, now: now, limit: settings.stallLimits[rank])
        unsafe worker.pointee.lastLook = latest
        if let stalled = finding.stalledFor {
            blocking.stalls.wrappingAdd(1, ordering: .relaxed)
            unsafe pools[rank].counters.stalls.wrappingAdd(1, ordering: .relaxed)
            let isAsleep = finding.stoodStill && ThreadClock.isAsleep(thread) == true
            unsafe observe(
                .jobStalled(
                    worker: worker.pointee.identity, duration: .nanoseconds(stalled), label: worker.pointee.jobLabel,
                    isAsleep ? .blocked : .computing))
        }
        if isBlocked {
            // A worker that declared it reports the end itself; for one that did not, running is the proof.
            if unsafe !finding.stoodStill && !worker.pointee.hasDeclaredBlocking.load(ordering: .relaxed) {
                unsafe workerUnblocked(worker)
            }
        } else if settings.detectsBlocking, isTakenForBlocked(finding, thread, rank: rank) {
            _ = unsafe workerBlocked(worker, .detected, step: step)
        }
    }

    /// Returns whether a worker that stands still is blocked, and its processor to be given to others.
    ///
    /// A worker of the two high classes that waits for a lock does not count as blocked at first. Work of a low class
    /// may hold the lock. The more workers of the classes between are admitted instead, the longer that work would
    /// wait.
    private func isTakenForBlocked(_ finding: WorkerLook.Finding, _ thread: ThreadID, rank: Int) -> Bool {
        if finding.stoodStillForLong { return ThreadClock.isAsleep(thread) == true }
        guard finding.beganToStandStill, ThreadClock.isAsleep(thread) == true else { return false }
        return rank < QoSClass.userInitiated.rank || !ThreadClock.waitsForLock(thread)
    }

    /// Notes that a worker's thread that stood in for another ends. The worker's thread.
    func workerRetires(_ worker: UnsafeMutablePointer<Worker>) {
        unsafe places.sleeps(rank: worker.pointee.pool.pointee.qosClass.rank, worker.pointee.index)
        unsafe worker.pointee.accountThread()
        unsafe worker.pointee.hasLeft.store(true, ordering: .releasing)
        workersLeft.wrappingSubtract(1, ordering: .sequentiallyConsistent)
        loop.wake()
    }
}
