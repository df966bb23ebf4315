import QoSCore
import QoSKernel
import Synchronization

/// The state by which a scheduler keeps the budget of its low classes, in a control group with a quota.
///
/// Low workers look at the time before each job, and one of them reads the use when it is due; while the budget holds
/// the low classes, the loop does (`Docs/Inside/Protocols/admission.md`). Nobody waits for a reading: a thread that
/// finds another one at it goes on.
///
/// Threading: any thread.
struct BudgetWatch: ~Copyable {
    /// The processor time that the low workers of all schedulers of the process have used, as far as it was read. For
    /// each scheduler, the low work of the others is low, too.
    static let lowOfProcess = Atomic<UInt64>(0)

    /// A low worker's use as of the last reading.
    struct WorkerUse {
        var thread: Int32 = 0
        var used: UInt64 = 0
        var steps: UInt64 = 0
        /// The use since the end of its last job.
        var unfinished: UInt64 = 0
    }

    struct State {
        var budget: ProcessorBudget?
        var quota: CPUQuota?
        var account: QuotaAccount?
        var held = QoSClassSet()

        /// The low workers' use, by rank and index.
        var uses: [[WorkerUse]] = [[], [], []]

        /// What a job of the class uses as a rule.
        var usual = InlineArray<3, Double>(repeating: 0)

        /// What the class has used so far, but for awaited work, by rank.
        var used = InlineArray<3, UInt64>(repeating: 0)

        /// The difference between the account of the group and that of the process: what others have used.
        var others: (firstGap: Int64, used: UInt64)?

        var nextAccount: UInt64 = 0
    }

    let state = Lock(State())
    let parameters: SchedulingParameters

    /// The time of the next reading, monotonic nanoseconds; `UInt64.max` without a budget.
    let due = Atomic<UInt64>(.max)

    /// Whether the scheduler ends, and holds no class back any more.
    let isOver = Atomic<Bool>(false)

    init(parameters: SchedulingParameters) {
        self.parameters = parameters
    }
}

extension BudgetWatch.State {
    /// Returns what other processes of the group have used, and the kernel's counts, if it is time for them.
    ///
    /// The accounts of group and process are late by different times, up to a tick. So the largest difference counts.
    mutating func readAccount(process: UInt64, at now: UInt64) -> ProcessorBudget.Counts? {
        guard now >= nextAccount, let account, let reading = account.read() else { return nil }
        nextAccount = now.addingSaturating(2_000_000)
        if let used = reading.used {
            let gap = Int64(clamping: used) &- Int64(clamping: process)
            let known = others ?? (gap, 0)
            others = (known.firstGap, max(known.used, UInt64(max(0, gap &- known.firstGap))))
        }
        return ProcessorBudget.Counts(periods: reading.periods, throttled: reading.throttled)
    }

    /// Whether a worker that sleeps between two jobs has been read since its last one.
    func hasSeen(rank: Int, index: Int, thread: Int32, steps: UInt64) -> Bool {
        guard index < uses[rank].count else { return false }
        let use = uses[rank][index]
        return use.thread == thread && use.steps == steps && steps & 1 == 0
    }

    /// Notes a reading of a worker's clock and of its jobs.
    ///
    /// - Returns: the use since the last reading; 0 for the first one.
    mutating func noteUse(rank: Int, index: Int, thread: Int32, used: UInt64, steps: UInt64) -> UInt64 {
        while uses[rank].count <= index { uses[rank].append(BudgetWatch.WorkerUse()) }
        var use = uses[rank][index]
        defer { uses[rank][index] = use }
        guard use.thread == thread else {
            use = BudgetWatch.WorkerUse(thread: thread, used: used, steps: steps)
            return 0
        }
        let more = used > use.used ? used - use.used : 0
        use.unfinished &+= more
        let ended = (steps &- use.steps) / 2 &+ (steps & 1 == 0 && use.steps & 1 == 1 ? 1 : 0)
        if ended > 0 {
            let average = Double(use.unfinished) / Double(ended)
            usual[rank] = max(average, usual[rank] - (usual[rank] - average) / 8)
            use.unfinished = 0
        }
        (use.used, use.steps) = (used, steps)
        return more
    }

    /// What the running job of a worker is expected to use until it ends.
    func expected(rank: Int, index: Int) -> Double {
        max(0, usual[rank] - Double(uses[rank][index].unfinished))
    }
}
