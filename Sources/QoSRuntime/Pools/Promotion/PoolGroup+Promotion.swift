import QoSCore
import QoSKernel
import Synchronization

// Running work is raised when work of a higher class waits for it (`Docs/Protocols/promotion.md`).

extension PoolGroup {
    /// Raises the running tasks for which work of a higher class waits (rule I4). The loop's thread, or a worker of a
    /// higher class.
    ///
    /// - Parameter waiter: the task of a higher class that the calling worker ran last, and that may have begun to
    ///   wait.
    func promoteRunning(rank: Int, awaitedBy waiter: (address: UInt, rank: Int)? = nil) {
        let started = unsafe pools[rank].started
        for index in 0..<started {
            let worker = unsafe pools[rank].workers + index
            guard unsafe worker.pointee.mayBeRaised else { continue }
            // All of it happens while the worker cannot leave the job. Otherwise the worker would be counted in a class
            // in which it no longer runs. A fence would stay up until the worker's next job, which the fence itself may
            // hold back.
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

    /// Returns the class to which a running task was raised; `nil` for a task that was not raised.
    private func raisedClass(ofRunning task: UnownedJob, awaitedBy waiter: (address: UInt, rank: Int)?) -> QoSClass? {
        let live = ConcurrencyRuntime.livePriority(task).flatMap { $0 > task.priority.rawValue ? $0 : nil }
        if let live { return QoSClass(rawPriority: live) }
        if let raised = RaisedTasks.qosClass(of: TaskAddress(rawValue: JobNode(task).address)) { return raised }
        // A priority that was high from the start does not rise. The waiter is only compared, because the task may end
        // meanwhile.
        guard let waiter, task.priority.rawValue >= QoSClass(atRank: waiter.rank).rawValue,
            ConcurrencyRuntime.latestWaiter(of: task)?.rawValue == waiter.address
        else { return nil }
        return QoSClass(atRank: waiter.rank)
    }

    /// The rest of a promotion, to be done once its worker may go on: no worker waits for an observer.
    struct Promotion {
        /// The workers to wake.
        var admitted = AdmittedWorkers()
        /// The class to which the worker was raised; `nil` when it was already as high, or could not be raised.
        var raisedTo: QoSClass?
        /// Whether the worker sleeps at a checkpoint, and is to be woken.
        var wakes = false
    }

    /// Wakes the admitted workers, and tells the observer. Any thread; under no lock.
    func settle(
        _ promotion: Promotion, of worker: WorkerIdentity, _ reason: @autoclosure () -> PromotionReason
    ) {
        wake(promotion.admitted)
        guard let qosClass = promotion.raisedTo else { return }
        observe(.promotedRunning(worker: worker, to: qosClass, reason()))
    }

    /// Adjusts a worker to the levels of the work queue items that it runs (rules I1, I3, B13). Raises the worker if an
    /// item was raised, and takes back a raise whose wait is over.
    private func adjustForItems(_ worker: UnsafeMutablePointer<Worker>, own: QoSClass) {
        var label: String?
        let promotion: Promotion = unsafe worker.pointee.items.inspect { level in
            let wanted = max(own, level.level?.qosClass ?? own)
            if wanted > own {
                let promotion = unsafe promote(worker, from: own, to: wanted)
                if promotion.raisedTo != nil, settings.observer != nil {
                    label = unsafe worker.pointee.items.inspectedLabel
                }
                if promotion.raisedTo != nil || !promotion.admitted.isEmpty { return promotion }
            }
            guard unsafe worker.pointee.boost.isUp.load(ordering: .acquiring) else { return Promotion() }
            let ofTask = unsafe worker.pointee.running.inspect { task in
                ConcurrencyRuntime.livePriority(task).flatMap(QoSClass.init(rawPriority:))
            }
            let ofLane = unsafe worker.pointee.lane.inspect { $0.awaitedRank }.map { QoSClass(atRank: $0) }
            return Promotion(admitted: unsafe lower(worker, from: own, to: max(wanted, ofTask ?? own, ofLane ?? own)))
        }
        unsafe settle(promotion, of: worker.pointee.identity, .queue(label))
    }

    /// Takes back a raise, or a part of it.
    private func lower(
        _ worker: UnsafeMutablePointer<Worker>, from own: QoSClass, to needed: QoSClass
    ) -> AdmittedWorkers {
        let thread = ThreadID(rawValue: unsafe worker.pointee.threadID.load(ordering: .relaxed))
        return unsafe worker.pointee.boost.withLock { raise in
            let actions = unsafe raise.lowered(to: needed, own: own, worker.pointee.presence) { qosClass in
                guard giveEffects(of: qosClass, to: thread) else { return false }
                if isClosedForAll { unsafe hurry(worker) }
                return true
            }
            return unsafe carryOut(actions, &raise, of: worker, own).admitted
        }
    }

    /// Raises the running work of a worker. The worker does not leave its job meanwhile.
    private func promote(
        _ worker: UnsafeMutablePointer<Worker>, from own: QoSClass, to wanted: QoSClass,
        for lifetime: WorkerRaise.Lifetime = .job
    ) -> Promotion {
        let thread = ThreadID(rawValue: unsafe worker.pointee.threadID.load(ordering: .relaxed))
        let promotion: Promotion = unsafe worker.pointee.boost.withLock { raise in
            let actions = unsafe raise.raised(to: wanted, for: lifetime, own: own, worker.pointee.presence) {
                giveEffects(of: $0, to: thread)
            }
            let promotion = unsafe carryOut(actions, &raise, of: worker, own)
            if promotion.raisedTo != nil {
                noteRaised(own, byEffects: raise.countedClass != nil, forLock: lifetime == .lock)
            }
            return promotion
        }
        if promotion.wakes {
            workerWakes()
            unsafe worker.pointee.parker.unpark()
        }
        return promotion
    }

    /// Carries out the actions of an event. With the lock of the raise held.
    private func carryOut(
        _ actions: WorkerRaiseActions, _ raise: inout WorkerRaise, of worker: UnsafeMutablePointer<Worker>,
        _ own: QoSClass
    ) -> Promotion {
        var promotion = Promotion(raisedTo: actions.raisedTo)
        if actions.endsWait {
            // The job is exempt from the wait (rule A3). If another thread has ended the wait, admission already counts
            // the worker.
            promotion.wakes = unsafe Worker.endWaiting(worker)
            if promotion.wakes { promotion.admitted = admission.workerUnblocked(rank: own.rank) }
            unsafe worker.pointee.standing.store(.counted, ordering: .sequentiallyConsistent)
        }
        if let fence = actions.lifted { promotion.admitted.add(admission.fenceLifted(fence)) }
        switch actions.counted {
        case nil: break
        case .moved(let from, let to)?: promotion.admitted.add(admission.workerMoved(from: from, to: to))
        case .blocked(let qosClass)?:
            unsafe worker.pointee.standing.store(.blocked(as: qosClass), ordering: .sequentiallyConsistent)
        }
        if let ceiling = actions.raisesFence {
            let (fence, admitted) = admission.fenceRaised(upTo: ceiling, holder: own)
            raise.fenceRaised(fence)
            promotion.admitted.add(admitted)
        }
        return promotion
    }

    /// Puts up the missing fence of a raise: the worker was blocked, enough fences were up, or admission's lock was
    /// taken. With the lock of the raise held.
    func raiseMissingFence(
        _ raise: inout WorkerRaise, of worker: UnsafeMutablePointer<Worker>, _ own: QoSClass
    ) -> AdmittedWorkers {
        unsafe carryOut(raise.runs(), &raise, of: worker, own).admitted
    }

    private func noteRaised(_ own: QoSClass, byEffects: Bool, forLock: Bool) {
        promotions.running.wrappingAdd(1, ordering: .relaxed)
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
    /// - Returns: the promotion for ``settle(_:of:_:)``, once the caller has given back its locks.
    func raiseHolder(_ worker: UnsafeMutablePointer<Worker>, to wanted: QoSClass) -> Promotion {
        unsafe promote(worker, from: worker.pointee.pool.pointee.qosClass, to: wanted, for: .lock)
    }

    /// Undoes a raise that was made only for a lock, because the lock has been given back. The worker's thread.
    func endRaiseOfHolder(_ worker: UnsafeMutablePointer<Worker>) {
        let own = unsafe worker.pointee.pool.pointee.qosClass
        if unsafe worker.pointee.isBlocked { unsafe workerUnblocked(worker) }
        // Counted anew under the lock under which it may be taken for blocked. If that has happened, the end of the job
        // undoes the raise.
        unsafe endRaise(of: worker, own) { unsafe $0.unlocked(own: own, worker.pointee.presence) }
    }

    /// Undoes the raise of a job that has ended. The worker's thread.
    func endBoost(of worker: UnsafeMutablePointer<Worker>, qosClass own: QoSClass) {
        unsafe endRaise(of: worker, own) { unsafe $0.ended(own: own, worker.pointee.presence) }
    }

    /// Undoes a raise by an event. The worker's thread.
    private func endRaise(
        of worker: UnsafeMutablePointer<Worker>, _ own: QoSClass, by event: (inout WorkerRaise) -> WorkerRaiseActions
    ) {
        let ended: (admitted: AdmittedWorkers, returnsToClass: Bool)? = unsafe worker.pointee.boost.withLock { raise in
            let actions = event(&raise)
            if actions.isEmpty { return nil }
            return unsafe (carryOut(actions, &raise, of: worker, own).admitted, actions.returnsToClass)
        }
        guard let ended else { return }
        if ended.returnsToClass { unsafe returnToClass(worker, own) }
        wake(ended.admitted)
    }

    /// Gives a raised worker the effects of its class again. Once the scheduler is closed, hurries the worker to its
    /// end instead. The worker's thread.
    private func returnToClass(_ worker: UnsafeMutablePointer<Worker>, _ own: QoSClass) {
        _ = profile?.applier.apply(own)
        if isClosedForAll { unsafe hurry(worker) }
    }

    /// Raises a worker that has to end, if the kernel allows it, for good. A thread that lowers a worker's thread
    /// checks afterwards whether the scheduler is closed. The thread that closes the scheduler raises the workers'
    /// threads afterwards.
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
}
