import QoSCore
import QoSKernel
import Synchronization

// The low classes spend from a control group's quota what the high ones leave (`ProcessorBudget`).

extension PoolGroup {
    private static let lowRanks = 0..<QoSClass.userInitiated.rank

    /// Whether a worker has to ask the machine before its next job. Reads the budget first, if that is due.
    ///
    /// - Parameter waits: whether the caller may wait for admission's lock.
    func mustAskMachine(rank: Int, waits: Bool) -> Bool {
        if admission.hasBudget, rank < QoSClass.userInitiated.rank,
            budget.due.load(ordering: .relaxed) <= MonotonicClock.nanoseconds()
        {
            readBudget(waits: waits)
        }
        return admission.mustAskMachine(rank: rank)
    }

    /// Follows the quota: makes a budget, or ends it. The thread that makes the scheduler, then the loop's.
    ///
    /// Does nothing while another thread reads the budget: the next call follows.
    ///
    /// - Parameter processors: the number of processors in the affinity.
    func followQuota(_ quota: CPUQuota?, processors: Int) {
        let limit = quota.flatMap {
            ProcessorBudget.Quota(amount: $0.quota, period: $0.period, burst: $0.burst, processors: processors)
        }
        guard limit != nil || admission.hasBudget else { return }
        let now = MonotonicClock.nanoseconds()
        let admitted = budget.state.withLockIfAvailable { state -> AdmittedWorkers? in
            if state.budget?.quota == limit, let quota, state.account?.isOf(quota) ?? (state.quota == quota) {
                return nil
            }
            state = BudgetWatch.State()
            state.quota = quota
            state.budget = limit.map {
                ProcessorBudget(quota: $0, parameters: budget.parameters, at: Self.instant(now))
            }
            state.account = limit == nil ? nil : quota.flatMap { QuotaAccount(of: $0, root: settings.fileRoot) }
            budget.due.store(limit == nil ? .max : now, ordering: .relaxed)
            // Under the lock: a low worker that reads the new budget may hold a class, and tells admission after this.
            admission.setBudget(of: limit == nil ? [] : ProcessorBudget.low)
            return admission.heldBackChanged(to: [], waits: false)
        }
        if let admitted = admitted ?? nil { wake(admitted) }
    }

    /// Lets the low classes go for good, because the scheduler ends. The loop's thread.
    func endBudget() {
        budget.isOver.store(true, ordering: .sequentiallyConsistent)
        if admission.hasBudget { liftHolds() }
    }

    private func liftHolds() {
        budget.due.store(.max, ordering: .relaxed)
        admission.setBudget(of: [])
        wake(admission.heldBackChanged(to: [], waits: false))
    }

    /// Reads what was used, and holds the low classes or lets them go. Goes on if another thread is at it.
    func readBudget(waits: Bool) {
        let answer = budget.state.withLockIfAvailable { state -> AdmittedWorkers? in
            let now = MonotonicClock.nanoseconds()
            guard var budget = state.budget else { return nil }
            let work = readLowWork(&state)
            let process = ThreadClock.nanosecondsOfProcess()
            let counts = state.readAccount(process: process, at: now)
            budget.read(
                ProcessorBudget.Reading(
                    total: process &+ (state.others?.used ?? 0),
                    low: BudgetWatch.lowOfProcess.load(ordering: .relaxed), counts: counts),
                at: Self.instant(now))
            let decision = budget.decide(work, at: Self.instant(now))
            state.budget = budget
            self.budget.due.store(UInt64(max(0, decision.lookAt.nanoseconds)), ordering: .relaxed)
            admission.setBudgetLook(at: decision.lookWithoutWorkerAt)
            guard decision.held != state.held else { return nil }
            state.held = decision.held
            return admission.heldBackChanged(to: decision.held, waits: waits)
        }
        guard let admitted = answer ?? nil else { return }
        wake(admitted)
        // Either the end is seen here, or the end comes after the hold.
        if budget.isOver.load(ordering: .sequentiallyConsistent) { liftHolds() }
    }

    /// Reads the clocks of the low workers that may have run since the last reading.
    ///
    /// A paused class wants nothing: what would be kept for it, or let in for it, nobody would use.
    func readLowWork(_ state: inout BudgetWatch.State) -> ProcessorBudget.LowWork {
        var work = ProcessorBudget.LowWork()
        var low: UInt64 = 0
        for rank in Self.lowRanks {
            if admission.widthLimit(rank: rank) > 0, pools[rank].hasWork() {
                work.wanting.insert(QoSClassSet(QoSClass(atRank: rank)))
            }
            for index in 0..<pools[rank].started {
                let thread = pools[rank].workers[index].threadID.load(ordering: .relaxed)
                let steps = pools[rank].workers[index].jobSteps
                let isCounted = pools[rank].workers[index].standing == .counted
                if thread == 0 || (!isCounted && state.hasSeen(rank: rank, index: index, thread: thread, steps: steps))
                {
                    continue
                }
                let used = ThreadClock.nanoseconds(of: ThreadID(rawValue: thread)) ?? 0
                let more = state.noteUse(rank: rank, index: index, thread: thread, used: used, steps: steps)
                // Awaited work spends from its waiter's share.
                if !pools[rank].workers[index].boost.isUp.load(ordering: .relaxed) {
                    low &+= more
                    state.used[rank] &+= more
                }
                if isCounted, steps & 1 == 1 {
                    work.running.insert(QoSClassSet(QoSClass(atRank: rank)))
                    work.committed += state.expected(rank: rank, index: index)
                }
            }
        }
        BudgetWatch.lowOfProcess.wrappingAdd(low, ordering: .relaxed)
        (work.usual, work.used) = (state.usual, state.used)
        return work
    }

    private static func instant(_ time: UInt64) -> SchedulerInstant {
        SchedulerInstant(nanoseconds: Int64(clamping: time))
    }
}
