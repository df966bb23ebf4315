import QoSCore
import QoSEventLoop
import QoSKernel
import Synchronization

// A worker whose thread waits in the kernel leaves its processor to another one (`Docs/Protocols/blocking.md`).

extension SchedulerCore {
    /// A worker's thread waits in the kernel, or is about to, with its job unfinished: it is no longer counted, and another worker
    /// may stand in for it.
    ///
    /// - Parameters:
    ///   - reason: who says so.
    ///   - step: the worker's `jobSteps` when that was seen; for a detected one, which may have left its job meanwhile.
    /// - Returns: whether it was noted, and has to be taken back by ``workerUnblocked(_:)``.
    func workerBlocked(_ worker: UnsafeMutablePointer<Worker>, _ reason: BlockingReason, step: UInt64? = nil) -> Bool {
        let pool = unsafe worker.pointee.pool
        guard unsafe pool.pointee.blocked.load(ordering: .relaxed) < ClassPool.mostCompensating else {
            uncompensated.wrappingAdd(1, ordering: .relaxed)
            return false
        }
        // Under the lock under which a boost changes where the worker is counted.
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
            unsafe unplaceWorker(rank: pool.pointee.qosClass.rank, worker.pointee.index)
            return admission.workerBlocked(rank: counted.rank)
        }
        guard let admitted else { return false }
        unsafe pool.pointee.blocked.wrappingAdd(1, ordering: .sequentiallyConsistent)
        blockedWorkers.wrappingAdd(1, ordering: .relaxed)
        switch reason {
        case .declared: blockedDeclared.wrappingAdd(1, ordering: .relaxed)
        case .detected: blockedDetected.wrappingAdd(1, ordering: .relaxed)
        }
        unsafe pool.pointee.relieve(worker.pointee.index)
        wake(admitted)
        if unsafe pool.pointee.hasWork() { unsafe pool.pointee.wakeOne() }
        unsafe observe(.workerBlocked(worker.pointee.identity, reason))
        return true
    }

    /// The thread runs again, or its job has ended: it is counted as before. By the worker, or by the loop that sees it run.
    func workerUnblocked(_ worker: UnsafeMutablePointer<Worker>) {
        let pool = unsafe worker.pointee.pool
        let admitted: AdmittedWorkers? = unsafe worker.pointee.boost.withLock { boost in
            guard let counted = unsafe worker.pointee.standing.load(ordering: .relaxed).blockedAs else { return nil }
            var admitted = admission.workerUnblocked(rank: counted.rank)
            // A raise that came while the thread slept, without the right to raise it: from now on the fence is of use.
            unsafe admitted.add(raiseMissingFence(&boost, holder: pool.pointee.qosClass))
            unsafe placeWorker(rank: pool.pointee.qosClass.rank, worker.pointee.index)
            // Not before: a worker that sees it taken back goes on, and may say at once that it is idle, and park.
            unsafe worker.pointee.standing.store(.counted, ordering: .sequentiallyConsistent)
            return admitted
        }
        guard let admitted else { return }
        unsafe pool.pointee.blocked.wrappingSubtract(1, ordering: .sequentiallyConsistent)
        blockedWorkers.wrappingSubtract(1, ordering: .relaxed)
        wake(admitted)
        unsafe observe(.workerUnblocked(worker.pointee.identity))
    }

    /// Puts up the fence of a raise that has none: the worker was blocked, enough fences were up, or admission's lock was taken.
    private func raiseMissingFence(_ boost: inout WorkerBoost?, holder: QoSClass) -> AdmittedWorkers {
        guard let raised = boost, case .fence(nil) = raised.means else { return AdmittedWorkers() }
        let (fence, admitted) = admission.fenceRaised(upTo: raised.qosClass, holder: holder)
        boost = WorkerBoost(qosClass: raised.qosClass, means: .fence(fence), endsWithLock: raised.endsWithLock)
        return admitted
    }

    // MARK: The loop's look

    /// Looks at the workers that are in a job: which of them are blocked, and which do not come to an end. The loop's thread.
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
        // On a copy: changed in place, the whole worker would be borrowed for it, whose thread goes on meanwhile.
        var latest = unsafe worker.pointee.lastLook
        let finding = latest.looked(
            step: step, used: { ThreadClock.nanoseconds(of: thread) }, now: now, limit: stallLimits[rank])
        unsafe worker.pointee.lastLook = latest
        if let stalled = finding.stalledFor {
            stalls.wrappingAdd(1, ordering: .relaxed)
            unsafe pools[rank].counters.stalls.wrappingAdd(1, ordering: .relaxed)
            let isAsleep = finding.stoodStill && ThreadClock.isAsleep(thread) == true
            unsafe observe(
                .jobStalled(
                    worker: worker.pointee.identity, nanoseconds: stalled, label: worker.pointee.jobLabel,
                    isAsleep ? .blocked : .computing))
        }
        if isBlocked {
            // One that declared it says itself when it is over; for one that does not, running is the proof.
            if unsafe !finding.stoodStill && !worker.pointee.hasDeclaredBlocking.load(ordering: .relaxed) {
                unsafe workerUnblocked(worker)
            }
        } else if configuration.detectsBlocking, isTakenForBlocked(finding, thread, rank: rank) {
            _ = unsafe workerBlocked(worker, .detected, step: step)
        }
    }

    /// Whether a worker that stands still is blocked, and its processor to be given to others.
    ///
    /// One of the two high classes that waits for a lock is not, at first: the lock may be held by work of a low class, which would
    /// wait the longer, the more workers of the classes between are admitted in its place.
    private func isTakenForBlocked(_ finding: WorkerLook.Finding, _ thread: ThreadID, rank: Int) -> Bool {
        if finding.stoodStillForLong { return ThreadClock.isAsleep(thread) == true }
        guard finding.beganToStandStill, ThreadClock.isAsleep(thread) == true else { return false }
        return rank < QoSClass.userInitiated.rank || !ThreadClock.waitsForLock(thread)
    }

    // MARK: Back to the width

    /// Ends threads that stood in for blocked ones and have nothing to do any more. The loop's thread.
    func retireExtraWorkers() {
        for rank in 0..<QoSClass.allCases.count where unsafe pools[rank].started > pools[rank].limit {
            unsafe retireExtraWorkers(of: pools + rank)
        }
        joinRetired()
    }

    /// Takes back the threads that were told to end and have. The loop's thread.
    func joinRetired() {
        threads.removeAll { thread in
            guard unsafe pools[thread.rank].workers[thread.index].retires, thread.hasLeft else { return false }
            do { try thread.join() } catch { thread.abandon() }
            return true
        }
    }

    private func retireExtraWorkers(of pool: UnsafeMutablePointer<ClassPool>) {
        var parked: [Int] = []
        while let worker = unsafe pool.pointee.update({ word in
            word.parkedTaken { top in
                let link = unsafe pool.pointee.workers[top].nextParked.load(ordering: .relaxed)
                return link == 0 ? nil : link - 1
            }
        }) {
            parked.append(worker)
        }
        var kept: [Int] = []
        for index in parked.sorted(by: >) {
            let worker = unsafe pool.pointee.workers + index
            let limit = unsafe pool.pointee.limit
            guard unsafe worker.pointee.beginRetirement() else {
                kept.append(index)
                continue
            }
            let retired: Void? = unsafe pool.pointee.update { word in
                word.retired(index, limit: limit).map { ($0, ()) }
            }
            if retired == nil {
                unsafe worker.pointee.isOpen.store(true, ordering: .relaxed)
                kept.append(index)
            } else {
                unsafe worker.pointee.parker.unpark()
            }
        }
        // The lowest on top: they are used first, and the others may go next time.
        for index in kept {
            unsafe pool.pointee.update { word -> (PoolWord, Void)? in
                unsafe pool.pointee.workers[index].nextParked.store(
                    word.parkedTop.map { $0 + 1 } ?? 0, ordering: .relaxed)
                return (word.workerParks(index, wasSearching: false), ())
            }
        }
        // Who brought work meanwhile found nobody to wake.
        if unsafe pool.pointee.hasWork() { unsafe pool.pointee.wakeOne() }
    }

    /// A worker's thread that stood in for another ends. The worker's thread.
    func workerRetires(_ worker: UnsafeMutablePointer<Worker>) {
        unsafe unplaceWorker(rank: worker.pointee.pool.pointee.qosClass.rank, worker.pointee.index)
        unsafe worker.pointee.accountThread()
        unsafe worker.pointee.hasLeft.store(true, ordering: .releasing)
        workersLeft.wrappingSubtract(1, ordering: .sequentiallyConsistent)
        loop.wake()
    }
}
