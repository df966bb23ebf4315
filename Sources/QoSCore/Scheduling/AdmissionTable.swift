/// The records of the five classes and the rules over them: which class may take a job, which is admitted next, and
/// when the driver has to look again.
///
/// The rules are pure functions of the records. `AdmissionMachine` changes the records. The rules carry numbers, A1 to A6;
/// `Docs/Inside/Protocols/admission.md` has them with the reasons.
///
/// - Complexity: O(classes) each, that is constant; nothing allocates.
package struct AdmissionTable: Sendable {
    /// The number of cores that the process may use; at least 1.
    package internal(set) var cores: Int {
        didSet { applyCores() }
    }

    var records = InlineArray<5, ClassAdmission>(repeating: ClassAdmission())
    let timings: InlineArray<5, ClassTiming>
    let crowdingGrace: Int64

    /// Makes the table of classes without work.
    ///
    /// - Parameters:
    ///   - cores: At least 1; a smaller number counts as 1.
    ///   - parameters: The constants by class.
    package init(cores: Int, parameters: SchedulingParameters) {
        self.cores = max(1, cores)
        timings = InlineArray { rank in ClassTiming(parameters[QoSClass(rank: rank) ?? .default]) }
        crowdingGrace = parameters.crowdingGrace.schedulerNanoseconds
        applyCores()
    }

    /// The classes' own widths, if they do not follow from the cores; 0 for the others.
    private var setWidths = InlineArray<5, Int>(repeating: 0)

    mutating func setOwnWidth(rank: Int, to width: Int?) {
        setWidths[rank] = max(0, width ?? 0)
        applyCores()
    }

    private mutating func applyCores() {
        for rank in 0..<5 {
            records[rank].ownWidth =
                setWidths[rank] > 0 ? setWidths[rank] : max(1, cores / timings[rank].coresPerWorker)
        }
    }

    /// The record of a class.
    package subscript(qosClass: QoSClass) -> ClassAdmission { records[qosClass.rank] }
}

extension AdmissionTable {
    /// Whether one more worker of a class may be admitted (rules A1 to A4).
    package func admitsAnother(_ qosClass: QoSClass) -> Bool {
        let rank = qosClass.rank
        return admits(rank: rank, others: records.span[rank].running, above: runningAbove(rank: rank))
    }

    /// Whether an admitted worker of a class may take another job (rules A1 to A5).
    package func letsContinue(_ qosClass: QoSClass, at now: SchedulerInstant) -> Bool {
        let rank = qosClass.rank
        let others = records.span[rank].running - 1
        if admits(rank: rank, others: others, above: runningAbove(rank: rank)) { return true }
        return others < records.span[rank].limit && !standsAside(rank: rank) && isBurst(rank: rank, at: now)
    }

    /// The classes whose admitted workers have to ask before they take another job, because one of them may have to
    /// park.
    package var mustAsk: QoSClassSet {
        var result = QoSClassSet()
        var above = 0
        for rank in stride(from: 4, through: 0, by: -1) {
            let running = records.span[rank].running
            if running > 0 {
                if !admits(rank: rank, others: running - 1, above: above) { result.insert(QoSClassSet(rank: rank)) }
                above += running
            }
        }
        return result
    }

    /// The classes that asked for one more worker and did not get it yet.
    package var waiting: QoSClassSet {
        var result = QoSClassSet()
        for rank in 0..<5 where records.span[rank].isWaiting { result.insert(QoSClassSet(rank: rank)) }
        return result
    }

    /// Whether a class gives up one core for a lower class that was kept off the cores for too long (rule A4).
    package func standsAside(_ qosClass: QoSClass) -> Bool {
        standsAside(rank: qosClass.rank)
    }

    /// The classes whose starvation window is open: higher ones stand aside for them (rule A4).
    package var openWindows: QoSClassSet {
        var result = QoSClassSet()
        for rank in 0..<5 where !records.span[rank].claims.isEmpty { result.insert(QoSClassSet(rank: rank)) }
        return result
    }

    /// The classes that stand aside for a lower one (rule A4).
    package var standingAside: QoSClassSet {
        var result = QoSClassSet()
        for rank in 0..<5 { result.formUnion(records.span[rank].claims) }
        return result
    }

    /// The classes that the budget holds back (rule A7).
    package var heldBack: QoSClassSet {
        var result = QoSClassSet()
        for rank in 0..<5 where records.span[rank].isHeld { result.insert(QoSClassSet(rank: rank)) }
        return result
    }

    /// Whether workers of a class higher than this one run.
    package func runsHigher(than qosClass: QoSClass) -> Bool {
        runningAbove(rank: qosClass.rank) > 0
    }

    /// The time at which a class begins to stand aside for a lower one that stays covered (rule A4).
    ///
    /// The earliest deadline wins. The deadline of the lower class is its worst-case wait after it was last served. The
    /// deadline of the higher class moves with the time, because that class is being served. A higher class that has
    /// covered the cores only for a short while keeps them for its warp.
    ///
    /// Only the time counts in which the higher class and those above it covered the cores by themselves. It restarts
    /// when they have left a core for the lower class's quantum: then the classes between keep the lower class waiting,
    /// and stand aside.
    func claimTime(of lower: Int, against higher: Int, at now: SchedulerInstant) -> SchedulerInstant {
        let tolerated = timings[lower].worstCaseWait - timings[higher].worstCaseWait
        let due = now.advanced(byNanoseconds: tolerated - records.span[lower].behind[higher].covered)
        let warp = timings[higher].warp
        let latest = due.advanced(byNanoseconds: warp)
        guard let since = records.span[higher].coveringSince else { return latest }
        return max(due, min(since.advanced(byNanoseconds: warp), latest))
    }

    func runningAbove(rank: Int) -> Int {
        var sum = 0
        var higher = 4
        while higher > rank {
            sum += records.span[higher].running
            higher -= 1
        }
        return sum
    }

    /// Whether a worker of the class that runs beside `others` of its class and `above` of higher ones is admitted.
    func admits(rank: Int, others: Int, above: Int) -> Bool {
        guard others < records.span[rank].limit else { return false }
        if standsAside(rank: rank) { return above + others < cores - 1 }
        return above + others < cores || others == 0
    }

    private func standsAside(rank: Int) -> Bool {
        let own = QoSClassSet(rank: rank)
        var lower = 0
        while lower < rank {
            if records.span[lower].claims.contains(own) { return true }
            lower += 1
        }
        return false
    }

    private func isBurst(rank: Int, at now: SchedulerInstant) -> Bool {
        guard let since = records.span[rank].crowdedSince else { return true }
        return now.nanoseconds - since.nanoseconds < crowdingGrace
    }
}

/// The constants of one class in nanoseconds, ready for arithmetic.
struct ClassTiming: Sendable {
    let worstCaseWait: Int64
    let warp: Int64
    let quantum: Int64
    let coresPerWorker: Int

    init(_ constants: SchedulingParameters.PerClass) {
        worstCaseWait = constants.worstCaseWait.schedulerNanoseconds
        warp = constants.warp.schedulerNanoseconds
        quantum = max(1, constants.quantum.schedulerNanoseconds)
        coresPerWorker = constants.coresPerWorker
    }
}
