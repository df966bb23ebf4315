import QoSCore

/// The rules of admission once more, written for reading: lists of workers and of intervals, everything recomputed
/// from them for each decision. O(workers + fences + intervals) per event.
struct AdmissionOracle {
    private struct Raised {
        var id: FenceID
        var ceiling: QoSClass
        var holder: QoSClass?
        var at: Int64
    }

    private struct Interval {
        var length: Int64
        var wasServed: Bool
    }

    private let parameters: SchedulingParameters
    private var cores: Int
    private var now: Int64 = 0
    private var admitted: [QoSClass] = []
    private var waiting: Set<QoSClass> = []
    private var widths: [QoSClass: Int] = [:]
    private var fences: [Raised] = []
    private var workSince: [QoSClass: Int64] = [:]
    private var history: [QoSClass: [Interval]] = [:]
    private var servedNow: [QoSClass: Bool] = [:]
    private var crowdedSince: [QoSClass: Int64] = [:]
    private var starving: QoSClass?
    private var windowEnd: Int64?

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
        if let starving, starving < qosClass { return atLeast < cores - 1 }
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
        if let starving, starving < qosClass { return false }
        let crowdedFor = crowdedSince[qosClass].map { now - $0 } ?? 0
        return others.filter { $0 == qosClass }.count < width(qosClass)
            && (crowdedSince[qosClass] == nil || crowdedFor < parameters.crowdingGrace.schedulerNanoseconds)
    }

    private func hasWork(_ qosClass: QoSClass) -> Bool { waiting.contains(qosClass) || admitted.contains(qosClass) }

    private func waited(_ qosClass: QoSClass) -> Int64 {
        (history[qosClass] ?? []).filter { !$0.wasServed }.map(\.length).reduce(0, +)
    }

    private func opening(_ qosClass: QoSClass) -> Int64? {
        guard servedNow[qosClass] == false else { return nil }
        let higher = QoSClass.descending.filter {
            $0 > qosClass && (admitted.contains($0) || waiting.contains($0) && width($0) > 0)
        }
        guard let top = higher.first else { return nil }
        let due =
            now - waited(qosClass) + parameters[qosClass].worstCaseWait.schedulerNanoseconds
            - parameters[top].worstCaseWait.schedulerNanoseconds
        let warp = parameters[top].warp.schedulerNanoseconds
        let heldUntil = min((workSince[top] ?? 0) + warp, due + warp)
        return max(due, heldUntil)
    }
}

// What changes with time and after an event.

extension AdmissionOracle {
    private mutating func pass(to time: Int64) {
        for (qosClass, wasServed) in servedNow where time > now {
            history[qosClass, default: []].append(Interval(length: time - now, wasServed: wasServed))
            let served = history[qosClass]?.filter(\.wasServed).map(\.length).reduce(0, +) ?? 0
            if served >= parameters[qosClass].quantum.schedulerNanoseconds { history[qosClass] = [] }
        }
        now = max(now, time)
        endWindow()
        beginWindow()
    }

    private mutating func endWindow() {
        guard let qosClass = starving else { return }
        let isOver = windowEnd.map { $0 <= now } ?? false
        if isOver || !hasWork(qosClass) || width(qosClass) == 0 { (starving, windowEnd) = (nil, nil) }
    }

    private mutating func beginWindow() {
        guard starving == nil else { return }
        starving = QoSClass.descending
            .filter { opening($0).map { $0 <= now } ?? false }
            .min { deadline($0) < deadline($1) }
    }

    private func deadline(_ qosClass: QoSClass) -> Int64 {
        parameters[qosClass].worstCaseWait.schedulerNanoseconds - waited(qosClass)
    }

    private mutating func settle() -> AdmissionActions {
        noteWork()
        endWindow()
        var admit = QoSClassSet()
        for qosClass in QoSClass.descending where waiting.contains(qosClass) && fits(qosClass, beside: admitted) {
            waiting.remove(qosClass)
            admitted.append(qosClass)
            admit.insert(QoSClassSet(qosClass))
        }
        noteStandings()
        beginWindow()
        if let starving, windowEnd == nil, count({ $0 > starving }) < cores {
            windowEnd = now + parameters[starving].quantum.schedulerNanoseconds
        }
        let mustAsk = QoSClass.allCases.filter { admitted.contains($0) && !fits($0, beside: without($0)) }
        return AdmissionActions(
            admit: admit, mustAsk: mustAsk.reduce(into: []) { $0.insert(QoSClassSet($1)) },
            lookAgainAt: nextLook().map { SchedulerInstant(nanoseconds: $0) })
    }

    private mutating func noteWork() {
        for qosClass in QoSClass.allCases {
            if !hasWork(qosClass) {
                workSince[qosClass] = nil
            } else if workSince[qosClass] == nil {
                workSince[qosClass] = now
            }
        }
    }

    private mutating func noteStandings() {
        for qosClass in QoSClass.allCases {
            if !hasWork(qosClass) { history[qosClass] = nil }
            servedNow[qosClass] =
                !hasWork(qosClass) || width(qosClass) == 0
                ? nil : admitted.contains(qosClass) && count({ $0 > qosClass }) < cores
            let isCrowded = count({ $0 >= qosClass }) > cores
            crowdedSince[qosClass] = isCrowded ? crowdedSince[qosClass] ?? now : nil
        }
    }

    private func nextLook() -> Int64? {
        let halves = fences.map { $0.at + parameters.fullFence.schedulerNanoseconds }.filter { $0 > now }
        let windows =
            starving == nil ? QoSClass.allCases.compactMap(opening) : windowEnd.map { [$0] } ?? []
        return (halves + windows).min()
    }
}
