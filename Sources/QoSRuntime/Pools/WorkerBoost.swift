import QoSCore
import QoSKernel
import Synchronization

/// What was done for the job that a worker runs because something of a higher class waits for it, and has to be undone when
/// the job has ended (`Docs/Protocols/promotion.md`).
struct WorkerBoost {
    /// The class that the job was raised to.
    let qosClass: QoSClass

    /// How.
    let means: Means

    enum Means {
        /// The thread got the policy, nice value and slice of the class.
        case effects
        /// The kernel does not allow that: the classes that compete with it take no jobs meanwhile. `nil` when enough fences
        /// were up already.
        case fence(FenceID?)
    }
}

extension SchedulerCore {
    /// Raises the running tasks that something of a higher class waits for (rule I4). The loop's thread.
    func promoteRunning(rank: Int) {
        let started = unsafe min(
            PoolWord(rawValue: pools[rank].word.load(ordering: .relaxed)).started, pools[rank].width)
        for index in 0..<started {
            let worker = unsafe pools[rank].workers + index
            let wanted: QoSClass? = unsafe worker.pointee.running.inspect { task in
                ConcurrencyRuntime.livePriority(task).flatMap { live in
                    live > task.priority.rawValue ? QoSClass(rawPriority: live) : nil
                }
            }
            if let wanted, wanted.rank > rank { unsafe promote(worker, from: QoSClass(atRank: rank), to: wanted) }
        }
    }

    /// Raises what a worker runs. Should the job end meanwhile, the next one has the advantage until it ends: harmless, and
    /// cheaper than to stop it.
    private func promote(_ worker: UnsafeMutablePointer<Worker>, from own: QoSClass, to wanted: QoSClass) {
        let thread = ThreadID(rawValue: unsafe worker.pointee.threadID.load(ordering: .relaxed))
        let raised: Bool? = unsafe worker.pointee.boost.withLockIfAvailable { boost in
            if let boost, boost.qosClass >= wanted { return false }
            // A job that is raised a second time keeps its means.
            if case .fence(let fence)? = boost?.means, let fence { wake(admission.fenceLifted(fence)) }
            let from = boost.map(\.qosClass) ?? own
            if giveEffects(of: wanted, to: thread) {
                wake(admission.workerMoved(from: from, to: wanted))
                boost = WorkerBoost(qosClass: wanted, means: .effects)
            } else {
                let (fence, admit) = admission.fenceRaised(upTo: wanted, holder: own)
                wake(admit)
                boost = WorkerBoost(qosClass: wanted, means: .fence(fence))
            }
            unsafe worker.pointee.isBoosted.store(true, ordering: .releasing)
            return true
        }
        if raised == true { runningPromoted.wrappingAdd(1, ordering: .relaxed) }
    }

    private func giveEffects(of qosClass: QoSClass, to thread: ThreadID) -> Bool {
        guard let profile, profile.capabilities.mode == .privileged || profile.capabilities.mode == .reversible else {
            return false
        }
        let effects = ClassEffects(qosClass, mode: profile.capabilities.mode, spread: profile.scope.spread)
        do throws(KernelError) {
            try profile.calls.setScheduling(effects.scheduling, of: thread)
            return true
        } catch {
            return false
        }
    }

    /// The job that was raised has ended: everything is as before. The worker's thread.
    func endBoost(of worker: UnsafeMutablePointer<Worker>, qosClass own: QoSClass) {
        let ended = unsafe worker.pointee.boost.withLock { boost in
            unsafe worker.pointee.isBoosted.store(false, ordering: .releasing)
            return boost.take()
        }
        guard let ended else { return }
        switch ended.means {
        case .effects:
            _ = profile?.applier.apply(own)
            wake(admission.workerMoved(from: ended.qosClass, to: own))
        case .fence(let fence):
            if let fence { wake(admission.fenceLifted(fence)) }
        }
    }
}
