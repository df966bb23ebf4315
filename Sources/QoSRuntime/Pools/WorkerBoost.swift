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

    /// Whether it is for a lock that the job holds, and for nothing else: it then ends when the lock is given back (rule I2).
    var endsWithLock = false

    /// Where admission counts the worker because of it; `nil` for its own class.
    var countedClass: QoSClass? {
        if case .effects = means { qosClass } else { nil }
    }

    enum Means {
        /// The thread got the policy, nice value and slice of the class.
        case effects
        /// The kernel does not allow that: the classes that compete with it take no jobs meanwhile. `nil` when enough fences
        /// were up already.
        case fence(FenceID?)
    }
}

extension SchedulerCore {
    /// Raises the running tasks that something of a higher class waits for (rule I4). The loop's thread, or a worker of a higher class.
    ///
    /// - Parameter waiter: the task of a higher class that the calling worker ran last, and that may have begun to wait.
    func promoteRunning(rank: Int, awaitedBy waiter: (address: UInt, rank: Int)? = nil) {
        let started = unsafe pools[rank].started
        for index in 0..<started {
            let worker = unsafe pools[rank].workers + index
            guard unsafe worker.pointee.mayBeRaised else { continue }
            // All of it while the worker cannot leave the job: it would else be counted in a class in which it does not
            // run any more, and a fence would stay up until its next job, which the fence itself may keep from it.
            let promotion: Promotion? = unsafe worker.pointee.running.inspect { task in
                let wanted = raisedClass(ofRunning: task, awaitedBy: waiter)
                guard let wanted, wanted.rank > rank else { return nil }
                return unsafe promote(worker, from: QoSClass(atRank: rank), to: wanted)
            }
            if let promotion { unsafe settle(promotion, of: worker.pointee.identity, .escalated) }
            let forCall: Promotion? = unsafe worker.pointee.lane.inspect { lane in
                guard let wanted = lane.awaitedRank, wanted > rank else { return nil }
                return unsafe promote(worker, from: QoSClass(atRank: rank), to: QoSClass(atRank: wanted))
            }
            if let forCall { unsafe settle(forCall, of: worker.pointee.identity, .escalated) }
            unsafe adjustForItems(worker, own: QoSClass(atRank: rank))
        }
    }

    /// The class that a running task was raised to; `nil` for one that was not.
    private func raisedClass(ofRunning task: UnownedJob, awaitedBy waiter: (address: UInt, rank: Int)?) -> QoSClass? {
        let live = ConcurrencyRuntime.livePriority(task).flatMap { $0 > task.priority.rawValue ? $0 : nil }
        if let live { return QoSClass(rawPriority: live) }
        if let raised = RaisedTasks.qosClass(of: TaskAddress(rawValue: JobNode(task).address)) { return raised }
        // Whose priority was high from the start does not rise; the waiter is compared only, since the task may end meanwhile.
        guard let waiter, task.priority.rawValue >= QoSClass(atRank: waiter.rank).rawValue,
            ConcurrencyRuntime.latestWaiter(of: task)?.rawValue == waiter.address
        else { return nil }
        return QoSClass(atRank: waiter.rank)
    }

    /// What is to be done about a promotion once its worker may go on: nobody waits for an observer.
    struct Promotion {
        /// The workers to wake.
        var admitted = AdmittedWorkers()
        /// What the worker was raised to; `nil` when it was as high already, or could not be.
        var raisedTo: QoSClass?
    }

    /// Wakes who is admitted, and tells the observer. Any thread; under no lock.
    func settle(
        _ promotion: Promotion, of worker: WorkerIdentity, _ reason: @autoclosure () -> PromotionReason
    ) {
        wake(promotion.admitted)
        guard let qosClass = promotion.raisedTo else { return }
        observe(.promotedRunning(worker: worker, to: qosClass, reason()))
    }

    /// Raises a worker to what the items of work queues that it runs are raised to, and takes a raise back that nothing demands
    /// any more: a wait that is over (rules I1, I3, B13).
    private func adjustForItems(_ worker: UnsafeMutablePointer<Worker>, own: QoSClass) {
        var label: String?
        let promotion: Promotion = unsafe worker.pointee.items.inspect { level in
            let wanted = max(own, level.level?.qosClass ?? own)
            if wanted > own {
                let promotion = unsafe promote(worker, from: own, to: wanted)
                if promotion.raisedTo != nil, configuration.observer != nil {
                    label = unsafe worker.pointee.items.inspectedLabel
                }
                if promotion.raisedTo != nil || !promotion.admitted.isEmpty { return promotion }
            }
            guard unsafe worker.pointee.isBoosted.load(ordering: .acquiring) else { return Promotion() }
            let ofTask = unsafe worker.pointee.running.inspect { task in
                ConcurrencyRuntime.livePriority(task).flatMap(QoSClass.init(rawPriority:))
            }
            let ofLane = unsafe worker.pointee.lane.inspect { $0.awaitedRank }.map { QoSClass(atRank: $0) }
            return Promotion(admitted: unsafe lower(worker, from: own, to: max(wanted, ofTask ?? own, ofLane ?? own)))
        }
        unsafe settle(promotion, of: worker.pointee.identity, .queue(label))
    }

    /// Takes a part of a raise back, or all of it.
    private func lower(
        _ worker: UnsafeMutablePointer<Worker>, from own: QoSClass, to needed: QoSClass
    ) -> AdmittedWorkers {
        let thread = ThreadID(rawValue: unsafe worker.pointee.threadID.load(ordering: .relaxed))
        return unsafe worker.pointee.boost.withLock { boost in
            guard let current = boost, current.qosClass > needed else { return AdmittedWorkers() }
            // A lock's holder keeps its raise until it unlocks; a blocked worker is counted nowhere, and the next look finds it.
            if unsafe current.endsWithLock || worker.pointee.isBlocked { return AdmittedWorkers() }
            var admitted = AdmittedWorkers()
            switch current.means {
            case .effects:
                // Without the right to do so, the raise lasts until the end of the job.
                guard giveEffects(of: needed, to: thread) else { return AdmittedWorkers() }
                if isClosedForAll { unsafe hurry(worker) }
                admitted = admission.workerMoved(from: current.qosClass, to: needed)
                boost = needed > own ? WorkerBoost(qosClass: needed, means: .effects) : nil
            case .fence(let fence):
                if let fence { admitted = admission.fenceLifted(fence) }
                boost = nil
                if needed > own {
                    let (lowerFence, admit) = admission.fenceRaised(upTo: needed, holder: own)
                    admitted.add(admit)
                    boost = WorkerBoost(qosClass: needed, means: .fence(lowerFence))
                }
            }
            // Last, since the worker may be counted elsewhere as soon as it has seen it.
            if boost == nil { unsafe worker.pointee.isBoosted.store(false, ordering: .releasing) }
            return admitted
        }
    }

    /// Raises what a worker runs. The worker does not leave its job meanwhile.
    private func promote(
        _ worker: UnsafeMutablePointer<Worker>, from own: QoSClass, to wanted: QoSClass, forLock: Bool = false
    ) -> Promotion {
        let thread = ThreadID(rawValue: unsafe worker.pointee.threadID.load(ordering: .relaxed))
        var wakes = false
        let promotion: Promotion = unsafe worker.pointee.boost.withLock { boost in
            let endsWithLock = forLock && boost?.endsWithLock ?? true
            if let present = boost, present.qosClass >= wanted {
                boost?.endsWithLock = endsWithLock
                return Promotion()
            }
            if unsafe worker.pointee.isBlocked {
                // It is not counted anywhere; when it runs again, the next look finds a task that was raised. Nobody looks for a
                // lock's holder: it gets its effects now, or its fence when it runs again, and is counted accordingly.
                guard forLock else { return Promotion() }
                let byEffects = giveEffects(of: wanted, to: thread)
                guard byEffects || boost?.countedClass == nil else { return Promotion() }
                var admitted = AdmittedWorkers()
                if case .fence(let fence)? = boost?.means, let fence { admitted = admission.fenceLifted(fence) }
                boost = WorkerBoost(
                    qosClass: wanted, means: byEffects ? .effects : .fence(nil), endsWithLock: endsWithLock)
                unsafe worker.pointee.standing.store(
                    .blocked(as: byEffects ? wanted : own), ordering: .sequentiallyConsistent)
                unsafe worker.pointee.isBoosted.store(true, ordering: .releasing)
                noteRaised(own, byEffects: byEffects, forLock: forLock)
                return Promotion(admitted: admitted, raisedTo: wanted)
            }
            var admitted = AdmittedWorkers()
            if unsafe worker.pointee.standing.load(ordering: .relaxed) == .atCheckpoint {
                // The job is exempt from what it waits for (rule A3). If another thread has ended the wait, admission counts it already.
                wakes = unsafe Worker.endWaiting(worker)
                if wakes { admitted = admission.workerUnblocked(rank: own.rank) }
                unsafe worker.pointee.standing.store(.counted, ordering: .sequentiallyConsistent)
            }
            // A job that is raised a second time keeps its means.
            if case .fence(let fence)? = boost?.means, let fence { admitted.add(admission.fenceLifted(fence)) }
            let from = boost?.countedClass ?? own
            if giveEffects(of: wanted, to: thread) {
                admitted.add(admission.workerMoved(from: from, to: wanted))
                boost = WorkerBoost(qosClass: wanted, means: .effects, endsWithLock: endsWithLock)
            } else {
                let (fence, admit) = admission.fenceRaised(upTo: wanted, holder: own)
                admitted.add(admit)
                boost = WorkerBoost(qosClass: wanted, means: .fence(fence), endsWithLock: endsWithLock)
            }
            unsafe worker.pointee.isBoosted.store(true, ordering: .releasing)
            noteRaised(own, byEffects: boost?.countedClass != nil, forLock: forLock)
            return Promotion(admitted: admitted, raisedTo: wanted)
        }
        if wakes {
            workerWakes()
            unsafe worker.pointee.parker.unpark()
        }
        return promotion
    }

    private func noteRaised(_ own: QoSClass, byEffects: Bool, forLock: Bool) {
        runningPromoted.wrappingAdd(1, ordering: .relaxed)
        let pool = unsafe pools + own.rank
        if byEffects {
            unsafe pool.pointee.counters.raisedByEffects.wrappingAdd(1, ordering: .relaxed)
        } else {
            unsafe pool.pointee.counters.raisedByFence.wrappingAdd(1, ordering: .relaxed)
        }
        if forLock { unsafe pool.pointee.counters.raisedForLock.wrappingAdd(1, ordering: .relaxed) }
    }

    /// Raises a worker because a thread of a higher class waits for a lock that its job holds (rule I2).
    ///
    /// The worker holds the lock until this has returned, so it does not leave its job.
    ///
    /// - Returns: what is to be settled once the caller has given back its locks.
    func raiseHolder(_ worker: UnsafeMutablePointer<Worker>, to wanted: QoSClass) -> Promotion {
        unsafe promote(worker, from: worker.pointee.pool.pointee.qosClass, to: wanted, forLock: true)
    }

    /// The lock has been given back: what was done for it alone is undone. The worker's thread.
    func endRaiseOfHolder(_ worker: UnsafeMutablePointer<Worker>) {
        let own = unsafe worker.pointee.pool.pointee.qosClass
        if unsafe worker.pointee.isBlocked { unsafe workerUnblocked(worker) }
        // Counted anew under the lock under which it may be taken for blocked; if it has been since, the end of the job undoes it.
        let ended: (WorkerBoost, AdmittedWorkers)? = unsafe worker.pointee.boost.withLock { boost in
            guard let present = boost, present.endsWithLock, unsafe !worker.pointee.isBlocked else { return nil }
            boost = nil
            unsafe worker.pointee.isBoosted.store(false, ordering: .releasing)
            switch present.means {
            case .effects: return (present, admission.workerMoved(from: present.qosClass, to: own))
            case .fence(let fence): return (present, fence.map { admission.fenceLifted($0) } ?? AdmittedWorkers())
            }
        }
        guard let (boost, admitted) = ended else { return }
        if boost.countedClass != nil { unsafe returnToClass(worker, own) }
        wake(admitted)
    }

    /// A worker that was raised gets the effects of its class again; once the scheduler is closed it is to come to its end instead. The
    /// worker's thread.
    private func returnToClass(_ worker: UnsafeMutablePointer<Worker>, _ own: QoSClass) {
        _ = profile?.applier.apply(own)
        if isClosedForAll { unsafe hurry(worker) }
    }

    /// Raises a worker that is to come to its end, where the kernel allows it, for good. Whoever lowers a thread of a worker looks
    /// afterwards whether the scheduler is closed; whoever closes it raises the threads afterwards.
    func hurry(_ worker: UnsafeMutablePointer<Worker>) {
        let thread = unsafe worker.pointee.threadID.load(ordering: .sequentiallyConsistent)
        if thread != 0 { _ = giveEffects(of: .userInitiated, to: ThreadID(rawValue: thread)) }
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
        let end: (boost: WorkerBoost, admitted: AdmittedWorkers)? = unsafe worker.pointee.boost.withLock { boost in
            unsafe worker.pointee.isBoosted.store(false, ordering: .releasing)
            guard let ended = boost.take() else { return nil }
            switch ended.means {
            case .effects:
                guard unsafe worker.pointee.isBlocked else {
                    return (ended, admission.workerMoved(from: ended.qosClass, to: own))
                }
                // It is counted nowhere; when it runs again, in its own class.
                unsafe worker.pointee.standing.store(.blocked(as: own), ordering: .sequentiallyConsistent)
                return (ended, AdmittedWorkers())
            case .fence(let fence):
                return (ended, fence.map { admission.fenceLifted($0) } ?? AdmittedWorkers())
            }
        }
        guard let end else { return }
        if end.boost.countedClass != nil { unsafe returnToClass(worker, own) }
        wake(end.admitted)
    }
}
