import QoSCore
import QoSKernel
import Synchronization

// Running work is raised when work of a higher class waits for it (`Docs/Inside/Protocols/promotion.md`).

extension PoolGroup {
    /// The class to which work for which a shutdown waits is raised at least.
    static let waited = QoSClass.userInitiated

    /// Raises the running tasks for which work of a higher class waits (rule I4). The loop's thread, or a worker of a
    /// higher class.
    ///
    /// - Parameter waiter: the task of a higher class that the calling worker ran last, and that may have begun to
    ///   wait.
    func promoteRunning(rank: Int, awaitedBy waiter: (address: UInt, rank: Int)? = nil) {
        let started = pools[rank].started
        for index in 0..<started {
            let worker = pools[rank].workers.at(index)
            guard worker.value.mayBeRaised else { continue }
            // All of it happens while the worker cannot leave the job. Otherwise the worker would be counted in a class
            // in which it no longer runs. A fence would stay up until the worker's next job, which the fence itself may
            // hold back.
            var name: String?
            let promotion: Promotion? = worker.value.running.inspect { task in
                let wanted = raisedClass(ofRunning: task, on: worker, awaitedBy: waiter)
                guard let wanted, wanted.rank > rank else { return nil }
                let promotion = promote(worker, from: QoSClass(atRank: rank), to: wanted, .awaited)
                if promotion.raisedTo != nil, settings.observer != nil { name = worker.value.inspectedName(of: task) }
                return promotion
            }
            if let promotion { settle(promotion, of: worker.value.identity, .escalated(task: name, waiter: nil)) }
            let forCall: Promotion? = worker.value.lane.inspect { lane in
                guard let wanted = lane.awaitedRank, wanted > rank else { return nil }
                return promote(worker, from: QoSClass(atRank: rank), to: QoSClass(atRank: wanted), .awaited)
            }
            if let forCall { settle(forCall, of: worker.value.identity, .escalated(task: nil, waiter: nil)) }
            adjustForItems(worker, own: QoSClass(atRank: rank))
        }
    }

    /// Returns the class to which a running task was raised; `nil` for a task that was not raised.
    private func raisedClass(
        ofRunning task: UnownedJob, on worker: WorkerRef, awaitedBy waiter: (address: UInt, rank: Int)? = nil
    ) -> QoSClass? {
        let live = ConcurrencyRuntime.livePriority(task).flatMap { $0 > task.priority.rawValue ? $0 : nil }
        let (address, root) = (TaskAddress(rawValue: JobNode(task).address), worker.value.running.inspectedRoot)
        var raised = live.flatMap(QoSClass.init(rawPriority:))
        // The waiter is only compared, because the task may end meanwhile.
        if RaisedTasks.mayHaveScopes, let waiter = ConcurrencyRuntime.latestWaiter(of: root ?? address) {
            raised.rise(to: RaisedTasks.classOfScope(of: waiter))
        }
        if live != nil { return raised }
        raised.rise(to: RaisedTasks.qosClass(of: address))
        raised.rise(to: root.flatMap(RaisedTasks.qosClass))
        // The shutdown has raised the task. A record that was high from the start does not show that.
        let declared = worker.value.declared.load(ordering: .relaxed)
        if isEnding, declared == ShutdownBehavior.finish.rawValue { raised.rise(to: Self.waited) }
        if let raised { return raised }
        // A priority that was high from the start does not rise. The waiter is only compared, because the task may end
        // meanwhile.
        guard let waiter, task.priority.rawValue >= QoSClass(atRank: waiter.rank).rawValue,
            ConcurrencyRuntime.latestWaiter(of: root ?? address)?.rawValue == waiter.address
        else { return nil }
        return QoSClass(atRank: waiter.rank)
    }

    /// Returns the highest class that something may still need of a running task; `nil` if nothing was seen to need it.
    ///
    /// A waiter that the record does not show was compared by its address when the task was raised. It is not compared
    /// again, so any waiter keeps such a raise.
    private func classToKeep(forRunning task: UnownedJob, on worker: WorkerRef) -> QoSClass? {
        if let raised = raisedClass(ofRunning: task, on: worker) { return raised }
        let awaited = worker.value.running.inspectedRoot ?? TaskAddress(rawValue: JobNode(task).address)
        guard ConcurrencyRuntime.latestWaiter(of: awaited) != nil else { return nil }
        return ConcurrencyRuntime.livePriority(task).flatMap(QoSClass.init(rawPriority:))
    }

    /// The rest of a promotion, to be done once its worker may go on: no worker waits for an observer.
    struct Promotion {
        /// The workers to wake.
        var admitted = AdmittedWorkers()
        /// The class to which the worker was raised; `nil` when it was already as high, or could not be raised.
        var raisedTo: QoSClass?
        /// Whether the worker sleeps at a checkpoint, and is to be woken.
        var wakes = false
        /// The promoted job, and the reason, for the record.
        var work = WorkID(rawValue: 0)
        var reason = DiagnosticsRecord.Reason.unknown
    }

    /// Wakes the admitted workers, and tells the observer. Any thread; under no lock.
    func settle(
        _ promotion: Promotion, of worker: WorkerIdentity, _ reason: @autoclosure () -> PromotionReason
    ) {
        wake(promotion.admitted)
        guard let qosClass = promotion.raisedTo else { return }
        record(promotion, of: worker)
        observe(.promotedRunning(worker: worker, to: qosClass, reason()))
    }

    /// Adjusts a worker to the levels of the work queue items that it runs (rules I1, I3, B13). Raises the worker if an
    /// item was raised, and takes back a raise whose wait is over.
    private func adjustForItems(_ worker: WorkerRef, own: QoSClass) {
        var label: String?
        let promotion: Promotion = worker.value.items.inspect { level in
            let wanted = max(own, level.level?.qosClass ?? own)
            if wanted > own {
                let promotion = promote(worker, from: own, to: wanted, .queue)
                if promotion.raisedTo != nil, settings.observer != nil {
                    label = worker.value.items.inspectedLabel
                }
                if promotion.raisedTo != nil || !promotion.admitted.isEmpty { return promotion }
            }
            guard worker.value.boost.isUp.load(ordering: .acquiring) else { return Promotion() }
            let ofTask = worker.value.running.inspect { task in
                classToKeep(forRunning: task, on: worker)
            }
            let ofLane = worker.value.lane.inspect { $0.awaitedRank }.map { QoSClass(atRank: $0) }
            return Promotion(admitted: lower(worker, from: own, to: max(wanted, ofTask ?? own, ofLane ?? own)))
        }
        settle(promotion, of: worker.value.identity, .queue(label))
    }

    /// Takes back a raise, or a part of it.
    private func lower(
        _ worker: WorkerRef, from own: QoSClass, to needed: QoSClass
    ) -> AdmittedWorkers {
        let thread = ThreadID(rawValue: worker.value.threadID.load(ordering: .relaxed))
        return worker.value.boost.withLock { raise in
            let needed = max(needed, worker.value.classForLock ?? needed)
            let hadFence = raise.isFence
            let actions = raise.lowered(to: needed, own: own, worker.value.presence) { qosClass in
                guard giveEffects(of: qosClass, to: thread) else { return false }
                if isClosedForAll { hurry(worker) }
                return true
            }
            if hadFence, !actions.isEmpty { giveIOPriority(of: needed, to: thread) }
            if !actions.isEmpty { worker.value.line.lowered(to: raise.qosClass) }
            return carryOut(actions, &raise, of: worker, own).admitted
        }
    }

    /// Raises the running work of a worker. The worker does not leave its job meanwhile.
    private func promote(
        _ worker: WorkerRef, from own: QoSClass, to wanted: QoSClass, _ reason: DiagnosticsRecord.Reason,
        for lifetime: WorkerRaise.Lifetime = .job
    ) -> Promotion {
        // A clamped scheduler raises nothing but holders of locks: threads of their own may wait for those (rule M3).
        if clamp.isOn, lifetime == .job { return Promotion() }
        let thread = ThreadID(rawValue: worker.value.threadID.load(ordering: .relaxed))
        let promotion: Promotion = worker.value.boost.withLock { raise in
            if lifetime == .lock { worker.value.classForLock = wanted }
            let actions = raise.raised(to: wanted, for: lifetime, own: own, worker.value.presence) {
                giveEffects(of: $0, to: thread)
            }
            var promotion = carryOut(actions, &raise, of: worker, own)
            if let raisedTo = promotion.raisedTo {
                (promotion.work, promotion.reason) = (work(of: worker), reason)
                worker.value.line.promoted(to: raisedTo, reason, by: callerAsPromoter)
                noteRaised(own, byEffects: raise.countedClass != nil, forLock: lifetime == .lock)
            }
            return promotion
        }
        if promotion.wakes {
            workerWakes()
            worker.value.parker.unpark()
        }
        return promotion
    }

    /// Carries out the actions of an event. With the lock of the raise held.
    private func carryOut(
        _ actions: WorkerRaiseActions, _ raise: inout WorkerRaise, of worker: WorkerRef,
        _ own: QoSClass
    ) -> Promotion {
        var promotion = Promotion(raisedTo: actions.raisedTo)
        if actions.endsWait {
            // The job is exempt from the wait (rule A3). If another thread has ended the wait, admission already counts
            // the worker.
            promotion.wakes = Worker.endWaiting(worker)
            if promotion.wakes { promotion.admitted = admission.workerUnblocked(rank: own.rank) }
            worker.value.change(.leavesCheckpoint)
        }
        if let fence = actions.lifted { promotion.admitted.add(admission.fenceLifted(fence)) }
        switch actions.counted {
        case nil: break
        case .moved(let from, let to)?: promotion.admitted.add(admission.workerMoved(from: from, to: to))
        case .blocked(let qosClass)?:
            worker.value.change(.changesClass(qosClass))
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
        _ raise: inout WorkerRaise, of worker: WorkerRef, _ own: QoSClass
    ) -> AdmittedWorkers {
        carryOut(raise.runs(), &raise, of: worker, own).admitted
    }

    private func noteRaised(_ own: QoSClass, byEffects: Bool, forLock: Bool) {
        promotions.running.wrappingAdd(1, ordering: .relaxed)
        let pool = pools.at(own.rank)
        if byEffects {
            pool.value.counters.raisedByEffects.value.wrappingAdd(1, ordering: .relaxed)
        } else {
            pool.value.counters.raisedByFence.value.wrappingAdd(1, ordering: .relaxed)
        }
        if forLock { pool.value.counters.raisedForLock.value.wrappingAdd(1, ordering: .relaxed) }
    }

    /// Raises a worker because a thread of a higher class waits for a lock that its job holds (rule I2).
    ///
    /// The worker holds the lock until this has returned, so it does not leave its job.
    ///
    /// - Returns: the promotion for ``settle(_:of:_:)``, once the caller has given back its locks.
    func raiseHolder(_ worker: WorkerRef, to wanted: QoSClass) -> Promotion {
        promote(worker, from: worker.qosClass, to: wanted, .lock, for: .lock)
    }

    /// Undoes a raise that was made only for a lock, because the lock has been given back. The worker's thread.
    func endRaiseOfHolder(_ worker: WorkerRef) {
        let own = worker.qosClass
        if worker.value.isBlocked { workerUnblocked(worker) }
        // Counted anew under the lock under which it may be taken for blocked. If that has happened, the end of the job
        // undoes the raise.
        endRaise(of: worker, own) {
            worker.value.classForLock = nil
            return $0.unlocked(own: own, worker.value.presence)
        }
        // The job is still within what it declared to block.
        if worker.value.hasDeclaredBlocking.load(ordering: .relaxed) { _ = workerBlocked(worker, .declared) }
    }

    /// Undoes the raise of a job that has ended. The worker's thread.
    func endBoost(of worker: WorkerRef, qosClass own: QoSClass) {
        endRaise(of: worker, own) { $0.ended(own: own, worker.value.presence) }
    }

    /// Undoes a raise by an event. The worker's thread.
    private func endRaise(
        of worker: WorkerRef, _ own: QoSClass, by event: (inout WorkerRaise) -> WorkerRaiseActions
    ) {
        let ended: (admitted: AdmittedWorkers, returnsToClass: Bool)? = worker.value.boost.withLock { raise in
            let hadFence = raise.isFence
            let actions = event(&raise)
            if hadFence, !raise.isFence { giveIOPriority(of: own, to: .current) }
            if actions.isEmpty { return nil }
            worker.value.line.lowered(to: raise.qosClass)
            return (carryOut(actions, &raise, of: worker, own).admitted, actions.returnsToClass)
        }
        guard let ended else { return }
        if ended.returnsToClass { returnToClass(worker, own) }
        wake(ended.admitted)
    }

    /// Gives a raised worker the effects of its class again. Once the scheduler is closed, hurries the worker to its
    /// end instead. The worker's thread.
    private func returnToClass(_ worker: WorkerRef, _ own: QoSClass) {
        _ = profile?.applier.apply(own)
        if isClosedForAll { hurry(worker) }
    }

    /// Raises a worker that has to end, if the kernel allows it, for good. A thread that lowers a worker's thread
    /// checks afterwards whether the scheduler is closed. The thread that closes the scheduler raises the workers'
    /// threads afterwards.
    func hurry(_ worker: WorkerRef) {
        let thread = worker.value.threadID.load(ordering: .sequentiallyConsistent)
        if thread != 0 { _ = giveEffects(of: .userInitiated, to: ThreadID(rawValue: thread)) }
    }

    /// Gives a thread the I/O priority of a class. The kernel allows it without privileges, both ways (ioprio_set(2)), so
    /// work behind a fence has it, too.
    private func giveIOPriority(of qosClass: QoSClass, to thread: ThreadID) {
        guard let profile else { return }
        let effects = ClassEffects(qosClass, mode: profile.capabilities.mode, spread: profile.scope.spread)
        try? profile.calls.setIOPriority(effects.ioPriority, of: thread)
    }

    /// Gives a thread the effects of a class, except for the timer slack.
    ///
    /// - Returns: whether the kernel allows policy and nice value.
    private func giveEffects(of qosClass: QoSClass, to thread: ThreadID) -> Bool {
        giveIOPriority(of: qosClass, to: thread)
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
