// Events of work and workers.

extension AdmissionMachine {
    /// Asks for one more worker of a class: work arrived, and none of its workers is looking for work.
    ///
    /// An admitted worker also calls it after it took its first job and left others in the queue. While the class is a
    /// member of ``AdmissionActions/waiting``, another call changes nothing and may be left out.
    package mutating func workBecameRunnable(_ qosClass: QoSClass, at time: SchedulerInstant) -> AdmissionActions {
        passTime(to: time)
        table.records[qosClass.rank].isWaiting = true
        return settle()
    }

    /// Decides whether a worker takes its next job.
    ///
    /// - Parameters:
    ///   - qosClass: The class in which the worker is counted.
    ///   - time: The time.
    ///   - isExempt: The next job is promoted or holds a fence: the worker takes it whatever the rules say.
    /// - Returns: The worker's verdict, and the driver's other actions.
    package mutating func workerAsked(
        _ qosClass: QoSClass, at time: SchedulerInstant, isExempt: Bool = false
    ) -> (verdict: WorkerVerdict, actions: AdmissionActions) {
        passTime(to: time)
        if isExempt || table.letsContinue(qosClass, at: now) { return (.take, settle()) }
        counters.parks &+= 1
        table.records[qosClass.rank].isWaiting = true
        leave(rank: qosClass.rank)
        return (.park, settle())
    }

    /// Uncounts an admitted worker that found its queue empty.
    ///
    /// It also withdraws the class's request for another worker. The driver looks at the queue once more after this
    /// event and reports work that arrived in between.
    package mutating func workerWentIdle(_ qosClass: QoSClass, at time: SchedulerInstant) -> AdmissionActions {
        passTime(to: time)
        leave(rank: qosClass.rank)
        table.records[qosClass.rank].isWaiting = false
        return settle()
    }

    /// Uncounts an admitted worker whose job waits in the kernel. Its core is free for another worker.
    package mutating func workerBlocked(_ qosClass: QoSClass, at time: SchedulerInstant) -> AdmissionActions {
        passTime(to: time)
        leave(rank: qosClass.rank)
        return settle()
    }

    /// Counts a blocked worker whose job runs again, without admission.
    package mutating func workerUnblocked(_ qosClass: QoSClass, at time: SchedulerInstant) -> AdmissionActions {
        passTime(to: time)
        table.records[qosClass.rank].running += 1
        return settle()
    }

    /// Counts a worker in another class, without admission. Its job was raised, or has ended and the worker returns.
    package mutating func workerMoved(
        from old: QoSClass, to new: QoSClass, at time: SchedulerInstant
    ) -> AdmissionActions {
        passTime(to: time)
        leave(rank: old.rank)
        table.records[new.rank].running += 1
        return settle()
    }

    /// Applies the sum of several events of a class that were not reported one by one.
    ///
    /// - Parameters:
    ///   - qosClass: The class.
    ///   - change: The change of its running workers; negative for fewer.
    ///   - wentIdle: Whether one of them found its queue empty, which withdraws the class's request for another worker.
    ///   - isWanted: Whether the class asks for another worker.
    ///   - time: The time.
    package mutating func workersChanged(
        _ qosClass: QoSClass, by change: Int, wentIdle: Bool, isWanted: Bool, at time: SchedulerInstant
    ) -> AdmissionActions {
        passTime(to: time)
        let rank = qosClass.rank
        assert(table.records[rank].running + change >= 0, "a worker that was not admitted is said to have gone")
        table.records[rank].running = max(0, table.records[rank].running + change)
        if wentIdle { table.records[rank].isWaiting = false }
        if isWanted { table.records[rank].isWaiting = true }
        return settle()
    }

    /// Lets time pass without another event; wanted at ``AdmissionActions/lookAgainAt``.
    package mutating func ticked(at time: SchedulerInstant) -> AdmissionActions {
        passTime(to: time)
        return settle()
    }

    private mutating func leave(rank: Int) {
        assert(table.records[rank].running > 0, "a worker that was not admitted reported an event of an admitted one")
        table.records[rank].running = max(0, table.records[rank].running - 1)
    }
}
