// Events of work and workers.

extension PickMachine {
    /// Work arrived for a class and none of its workers is looking for work: one more worker is asked for.
    ///
    /// Also to be called by an admitted worker that took its first job and left others in the queue. While
    /// the class is a member of ``AdmissionActions/waiting``, another call changes nothing and may be left out.
    package mutating func workBecameRunnable(_ qosClass: QoSClass, at time: SchedulerInstant) -> AdmissionActions {
        passTime(to: time)
        table.records[qosClass.rank].isWaiting = true
        return settle()
    }

    /// A worker wants to take its next job.
    ///
    /// - Parameters:
    ///   - qosClass: The class the worker is counted in.
    ///   - time: The time.
    ///   - isExempt: The next job is promoted or holds a fence: it is taken whatever the rules say.
    /// - Returns: What the worker does, and what else has to be done.
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

    /// An admitted worker found its queue empty and is no longer counted.
    ///
    /// It withdraws the class's request for another worker, too. The driver looks at the queue once more after this
    /// event and reports work that arrived in between.
    package mutating func workerWentIdle(_ qosClass: QoSClass, at time: SchedulerInstant) -> AdmissionActions {
        passTime(to: time)
        leave(rank: qosClass.rank)
        table.records[qosClass.rank].isWaiting = false
        return settle()
    }

    /// The job of an admitted worker waits in the kernel: its core is free for another worker.
    package mutating func workerBlocked(_ qosClass: QoSClass, at time: SchedulerInstant) -> AdmissionActions {
        passTime(to: time)
        leave(rank: qosClass.rank)
        return settle()
    }

    /// The job of a blocked worker runs again: the worker is counted at once, without being admitted.
    package mutating func workerUnblocked(_ qosClass: QoSClass, at time: SchedulerInstant) -> AdmissionActions {
        passTime(to: time)
        table.records[qosClass.rank].running += 1
        return settle()
    }

    /// A worker in a job was raised to another class, or returned to its own at the end of the job: it is counted
    /// there from now on, without being admitted.
    package mutating func workerMoved(
        from old: QoSClass, to new: QoSClass, at time: SchedulerInstant
    ) -> AdmissionActions {
        passTime(to: time)
        leave(rank: old.rank)
        table.records[new.rank].running += 1
        return settle()
    }

    /// Workers of a class came and went without an event for each: what all of that comes to.
    ///
    /// - Parameters:
    ///   - qosClass: The class.
    ///   - change: By how many more workers of it run; negative for less.
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

    /// Time passed and nothing else happened; wanted at ``AdmissionActions/lookAgainAt``.
    package mutating func ticked(at time: SchedulerInstant) -> AdmissionActions {
        passTime(to: time)
        return settle()
    }

    private mutating func leave(rank: Int) {
        assert(table.records[rank].running > 0, "a worker that was not admitted reported an event of an admitted one")
        table.records[rank].running = max(0, table.records[rank].running - 1)
    }
}
