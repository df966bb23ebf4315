import QoSCore
import QoSEventLoop
import QoSKernel
import Synchronization

// What follows from admission: whoever caused an event wakes whom it admitted.

extension SchedulerCore {
    /// There is work of a class that no worker looks for.
    func workArrived(rank: Int) {
        let admitted = admission.workBecameRunnable(rank: rank)
        if admitted.count(of: QoSClass(atRank: rank)) == 0 { noteBacklog() }
        wake(admitted)
    }

    /// A worker of a class found nothing to do.
    func workerWentIdle(rank: Int) {
        wake(admission.workerWentIdle(rank: rank))
    }

    /// A worker that has to ask is about to take its next job.
    ///
    /// - Returns: whether it parks instead.
    func workerMustPark(rank: Int, worker index: Int) -> Bool {
        parks(admission.workerAsked(rank: rank), rank: rank, worker: index)
    }

    /// Does what follows from admission's answer to a worker that asked.
    ///
    /// - Returns: whether the worker parks.
    func parks(_ asked: Admission.Asked, rank: Int, worker index: Int) -> Bool {
        if asked.answer == .parksAsHighest { lendProcessor(rank: rank, worker: index) }
        wake(asked.admit)
        return asked.answer != .goesOn
    }

    /// Time may have made a difference. The loop's thread.
    ///
    /// - Returns: when it will next, at the latest.
    func tickAdmission() -> UInt64? {
        if let time = admission.nextLook, time <= MonotonicClock.nanoseconds() { wake(admission.ticked()) }
        return admission.nextLook
    }

    /// A worker wakes up: from more workers than processors on, the loop looks whether what they run was raised.
    @inline(__always)
    func workerWakes() {
        let (before, _) = awake.wrappingAdd(1, ordering: .sequentiallyConsistent)
        if before >= width { noteBacklog() }
        // What it runs may wait for something that is paused.
        if before == 0, isLookingSlowly.load(ordering: .sequentiallyConsistent) { loop.wake() }
        beginWatching()
    }

    /// Wakes workers. Where none could be woken, the admission is given back, which may admit others.
    func wake(_ admitted: AdmittedWorkers) {
        var admitted = admitted
        while let qosClass = admitted.popHighest() {
            if unsafe !pools[qosClass.rank].wakeAdmitted() {
                admitted.add(admission.workerWentIdle(rank: qosClass.rank))
                // Giving it back withdrew what others asked for meanwhile, who were told that enough were admitted.
                if unsafe pools[qosClass.rank].hasWork() { unsafe pools[qosClass.rank].wakeOne() }
            }
        }
        takeBackProcessors()
        tellSettledWidths()
        let opened = admission.takeOpenedWindows()
        if !opened.isEmpty { observe(.starvationWindows(opened.members)) }
        // The loop keeps the time at which a class has waited for too long.
        if let time = admission.nextLook, admission.isEarlierThanArmed(time) { loop.wake() }
    }
}
