import QoSCore
import QoSSimulation
import QoSTesting

/// The rules of admission once more, written for reading: lists of workers and of intervals, everything recomputed
/// from them for each decision. O(workers + fences + intervals) per event.
struct AdmissionOracle: AdmissionJudge {
    private struct Raised {
        var id: FenceID
        var ceiling: QoSClass
        var holder: QoSClass?
        var at: Int64
    }

    /// A higher class stands aside for a lower one.
    private struct Claim: Hashable {
        var lower: QoSClass
        var higher: QoSClass
    }

    private struct Interval {
        var length: Int64
        var wasServed: Bool
        /// The classes that covered every core with those above them, and those that left one without standing aside.
        var covering: Set<QoSClass>
        var leaving: Set<QoSClass>
    }

    private let parameters: SchedulingParameters
    private var cores: Int
    private var now: Int64 = 0
    private var admitted: [QoSClass] = []
    private var waiting: Set<QoSClass> = []
    private var widths: [QoSClass: Int] = [:]
    private var fences: [Raised] = []
    private var history: [QoSClass: [Interval]] = [:]
    private var servedNow: [QoSClass: Bool] = [:]
    private var crowdedSince: [QoSClass: Int64] = [:]
    private var coveringSince: [QoSClass: Int64] = [:]
    private var claims: Set<Claim> = []

    /// The oracle of a world.
    init(_ world: SimulatedWorld) {
        self.init(cores: world.cores, parameters: world.parameters)
    }

    init(cores: Int, parameters: SchedulingParameters) {
        self.cores = cores
        self.parameters = parameters
    }

    /// Applies an event; a raised fence gets the identity that the machine gave it.
    mutating func apply(_ event: AdmissionEvent, at time: Int64, fence: FenceID?) -> AdmissionReply {
        pass(to: time)
        var verdict: WorkerVerdict?
        var wasUp: Bool?
        switch event {
        case .workBecameRunnable(let qosClass): waiting.insert(qosClass)
        case .workerAsked(let qosClass, let isExempt):
            verdict = isExempt || mayGoOn(qosClass) ? .take : .park
            if verdict == .park {
                remove(qosClass)
                waiting.insert(qosClass)
            }
        case .workerWentIdle(let qosClass):
            remove(qosClass)
            waiting.remove(qosClass)
        case .workerBlocked(let qosClass): remove(qosClass)
        case .workerUnblocked(let qosClass): admitted.append(qosClass)
        case .workerMoved(let old, let new):
            remove(old)
            admitted.append(new)
        case .widthChanged(let qosClass, let width): widths[qosClass] = width
        case .coresChanged(let count): cores = count
        case .fenceRaised(let ceiling, let holder):
            if let fence { fences.append(Raised(id: fence, ceiling: ceiling, holder: holder, at: now)) }
        case .fenceLifted(let id):
            wasUp = fences.contains { $0.id == id }
            fences.removeAll { $0.id == id }
        case .ticked: break
        }
        return AdmissionReply(actions: settle(), verdict: verdict, fence: fence, wasUp: wasUp)
    }

    private mutating func remove(_ qosClass: QoSClass) {
        if let index = admitted.firstIndex(of: qosClass) { admitted.remove(at: index) }
    }
}

// The rules.

extension AdmissionOracle {
    private func count(_ condition: (QoSClass) -> Bool) -> Int { admitted.filter(condition).count }

    private func width(_ qosClass: QoSClass) -> Int {
        let own = parameters[qosClass].workers(cores: cores)
        let governed = widths[qosClass] ?? .max
        let over = fences.filter { $0.ceiling >= qosClass }
        let isFull = over.contains { now - $0.at < parameters.fullFence.schedulerNanoseconds }
        let half = max(1, cores / 2) + fences.filter { $0.holder == qosClass }.count
        return min(own, governed, isFull ? 0 : over.isEmpty ? .max : half)
    }

    private func fits(_ qosClass: QoSClass, beside others: [QoSClass]) -> Bool {
        let same = others.filter { $0 == qosClass }.count
        let atLeast = others.filter { $0 >= qosClass }.count
        if same >= width(qosClass) { return false }
        if standsAside(qosClass) { return atLeast < cores - 1 }
        return same == 0 || atLeast < cores
    }

    private func without(_ qosClass: QoSClass) -> [QoSClass] {
        var others = admitted
        if let index = others.firstIndex(of: qosClass) { others.remove(at: index) }
        return others
    }

    private func mayGoOn(_ qosClass: QoSClass) -> Bool {
        let others = without(qosClass)
        if fits(qosClass, beside: others) { return true }
        if standsAside(qosClass) { return false }
        let crowdedFor = crowdedSince[qosClass].map { now - $0 } ?? 0
        return others.filter { $0 == qosClass }.count < width(qosClass)
            && (crowdedSince[qosClass] == nil || crowdedFor < parameters.crowdingGrace.schedulerNanoseconds)
    }

    private func hasWork(_ qosClass: QoSClass) -> Bool { waiting.contains(qosClass) || admitted.contains(qosClass) }

    private func waited(_ claim: Claim) -> Int64 {
        var (waited, left): (Int64, Int64) = (0, 0)
        for interval in history[claim.lower] ?? [] where !interval.wasServed {
            if interval.covering.contains(claim.higher) { waited += interval.length }
            if interval.leaving.contains(claim.higher) { left += interval.length }
            if left >= parameters[claim.lower].quantum.schedulerNanoseconds { (waited, left) = (0, 0) }
        }
        return waited
    }

    private func standsAside(_ qosClass: QoSClass) -> Bool { claims.contains { $0.higher == qosClass } }

    private func claimTime(_ claim: Claim) -> Int64 {
        let (lower, higher) = (parameters[claim.lower], parameters[claim.higher])
        let wait = lower.worstCaseWait.schedulerNanoseconds - waited(claim)
        let due = now + wait - higher.worstCaseWait.schedulerNanoseconds
        let warped = due + higher.warp.schedulerNanoseconds
        let warpEnd = coveringSince[claim.higher].map { $0 + higher.warp.schedulerNanoseconds } ?? warped
        return warpEnd <= due ? due : min(warpEnd, warped)
    }

    private func possibleClaims() -> [Claim] {
        QoSClass.allCases.filter { servedNow[$0] == false }.flatMap { lower in
            QoSClass.allCases.filter { $0 > lower }.map { Claim(lower: lower, higher: $0) }
        }
    }
}

// What changes with time and after an event.

extension AdmissionOracle {
    private mutating func pass(to time: Int64) {
        guard time > now else { return }
        let elapsed = time - now
        now = time
        let covering = Set(QoSClass.allCases.filter { higher in count { $0 >= higher } >= cores })
        let leaving = Set(QoSClass.allCases.filter { !covering.contains($0) && !standsAside($0) })
        for (qosClass, wasServed) in servedNow {
            history[qosClass, default: []].append(
                Interval(length: elapsed, wasServed: wasServed, covering: covering, leaving: leaving))
            let served = history[qosClass]?.filter(\.wasServed).map(\.length).reduce(0, +) ?? 0
            if served >= parameters[qosClass].quantum.schedulerNanoseconds { forget(qosClass) }
        }
        claims.formUnion(possibleClaims().filter { claimTime($0) <= now })
    }

    private mutating func forget(_ qosClass: QoSClass) {
        history[qosClass] = nil
        claims = claims.filter { $0.lower != qosClass }
    }

    private mutating func settle() -> AdmissionActions {
        for qosClass in QoSClass.allCases where !hasWork(qosClass) { forget(qosClass) }
        claims = claims.filter { width($0.lower) > 0 }
        var admit = QoSClassSet()
        for qosClass in QoSClass.descending where waiting.contains(qosClass) && fits(qosClass, beside: admitted) {
            waiting.remove(qosClass)
            admitted.append(qosClass)
            admit.insert(QoSClassSet(qosClass))
        }
        noteStandings()
        claims.formUnion(possibleClaims().filter { claimTime($0) <= now })
        let mustAsk = QoSClass.allCases.filter { admitted.contains($0) && !fits($0, beside: without($0)) }
        return AdmissionActions(
            admit: admit, mustAsk: mustAsk.reduce(into: []) { $0.insert(QoSClassSet($1)) },
            waiting: waiting.reduce(into: []) { $0.insert(QoSClassSet($1)) },
            lookAgainAt: nextLook().map { SchedulerInstant(nanoseconds: $0) })
    }

    private mutating func noteStandings() {
        for qosClass in QoSClass.allCases {
            let higher = count { $0 > qosClass }
            let all = count { $0 >= qosClass }
            let isOut = !hasWork(qosClass) || width(qosClass) == 0
            servedNow[qosClass] = isOut ? nil : admitted.contains(qosClass) && higher < cores
            coveringSince[qosClass] = all >= cores ? coveringSince[qosClass] ?? now : nil
            crowdedSince[qosClass] = all > cores ? crowdedSince[qosClass] ?? now : nil
        }
    }

    private func nextLook() -> Int64? {
        let halves = fences.map { $0.at + parameters.fullFence.schedulerNanoseconds }.filter { $0 > now }
        let begins = possibleClaims().filter { hasWork($0.higher) && !claims.contains($0) }.map(claimTime)
        let ends = Set(claims.map(\.lower)).filter { servedNow[$0] == true }.map { qosClass in
            let served = (history[qosClass] ?? []).filter(\.wasServed).map(\.length).reduce(0, +)
            return now + parameters[qosClass].quantum.schedulerNanoseconds - served
        }
        return (halves + begins + ends).min()
    }
}
