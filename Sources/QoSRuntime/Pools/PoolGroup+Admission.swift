import QoSCore
import QoSEventLoop
import QoSKernel
import Synchronization

// The consequences of admission: the thread that caused an event wakes the workers that it admitted.

extension PoolGroup {
    /// Notes that a class has work that no worker looks for.
    func workArrived(rank: Int) {
        let admitted = admission.workBecameRunnable(rank: rank)
        if admitted.count(of: QoSClass(atRank: rank)) == 0 { calls.noteBacklog() }
        wake(admitted)
    }

    /// Notes that a worker of a class found no work.
    func workerWentIdle(rank: Int) {
        wake(admission.workerWentIdle(rank: rank))
    }

    /// Asks admission for a worker that is about to take its next job.
    ///
    /// - Returns: whether the worker parks instead.
    func workerMustPark(rank: Int, worker index: Int) -> Bool {
        guard mustAskMachine(rank: rank, waits: true) else { return false }
        return parks(admission.workerAsked(rank: rank), rank: rank, worker: index)
    }

    /// Carries out admission's answer to a worker that asked.
    ///
    /// - Returns: whether the worker parks.
    func parks(_ asked: Admission.Asked, rank: Int, worker index: Int) -> Bool {
        if asked.answer == .parksAsHighest { places.lend(rank: rank, worker: index) }
        wake(asked.admit)
        return asked.answer != .goesOn
    }

    /// Lets admission look at the time, which may have changed something. The loop's thread.
    ///
    /// - Returns: the latest time at which the next look is due.
    func tickAdmission() -> UInt64? {
        if admission.takeBudgetLook() { readBudget(waits: false) }
        if admission.isTickDue { wake(admission.ticked()) }
        return admission.nextLook
    }

    /// Wakes workers. If none can be woken, gives the admission back, which may admit others.
    func wake(_ admitted: AdmittedWorkers) {
        var admitted = admitted
        while let qosClass = admitted.popHighest() {
            if !pools[qosClass.rank].wakeAdmitted() {
                admitted.add(admission.workerWentIdle(rank: qosClass.rank))
                wakeAgain(pools.at(qosClass.rank))
            }
        }
        places.takeBack()
        tellSettledWidths()
        let opened = admission.takeOpenedWindows()
        if !opened.isEmpty { observe(.starvationWindowsOpened(opened.members)) }
        // The loop keeps the time at which a class has waited too long.
        if let time = admission.nextLook, admission.isEarlierThanArmed(time) { loop.wake() }
    }

    /// Asks for a worker again, because the return of an admission withdrew requests that came meanwhile. Their callers
    /// were told that enough workers were admitted.
    private func wakeAgain(_ pool: UnsafeShared<ClassPool>) {
        guard pool.value.hasWork() else { return }
        // A worker that begins a wait at a checkpoint has counted itself, and not yet published the wait; or a thread
        // ends the wait. Both look for work afterwards. Asking again here would get the same admission, and so on.
        if pool.value.hasWaiting { calls.noteBacklog() } else { pool.value.wakeOne() }
    }

    /// Reports the limits that have taken effect to the observer. One load if there are none.
    @inline(__always)
    func tellSettledWidths() {
        for settled in admission.takeSettledWidths() {
            pools[settled.qosClass.rank].counters.widthChange.value.store(settled.took, ordering: .relaxed)
            observe(
                .widthLimited(
                    settled.qosClass, to: settled.limit == .max ? nil : settled.limit,
                    after: .nanoseconds(settled.took)))
        }
    }
}
