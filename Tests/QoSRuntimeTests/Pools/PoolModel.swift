@testable import QoSRuntime

/// A pool, threads that add work from outside, its workers, the loop that starts them and a fence, at the granularity
/// of the steps of `Docs/Inside/Protocols/wake-park.md` and of admission for one class. The decisions about workers are
/// those of ``PoolWord``.
///
/// A search may end at any time: how long it lasts is no part of the protocol. A job may run for ever. What the loop
/// does when it looks for raised tasks is left out, although it would find work that was left lying: it does not look
/// at the highest class.
struct PoolModel: ExploredModel {
    /// The next step of a thread that adds nodes from outside.
    enum Adder: Hashable {
        case pushes(left: Int)
        case wakes(Waking, left: Int)
        case done
    }

    /// The next step of a thread that asks for one more worker.
    enum Waking: Hashable {
        case looks
        case asksAdmission
        case wakesAdmitted
        /// Has taken two workers off the stack, puts one back, and then unparks the other.
        case putsBack(Int, thenUnparks: Int)
        case givesBack
        case looksForWork(at: Int)
    }

    /// The next step of the thread that stops the class for a while.
    enum Fence: Hashable {
        case raises
        case lifts
        case wakes(Waking)
        case done
    }

    /// The next step of a worker. `searching`: whether it is counted as such.
    indirect enum Worker: Hashable {
        case noThread
        /// The loop was asked to create its thread.
        case requested
        case atBoundary(searching: Bool)
        case looksAtOwn(searching: Bool)
        case looksAtInjected(searching: Bool)
        /// Holds what it took from the injection queue.
        case holdsInjected(Int, searching: Bool)
        case wantsToSearch
        case steals(from: Int)
        case looksAtInjectedAgain
        /// Holds nodes of another worker, without the node that it runs itself.
        case holdsStolen(Int)
        case stopsSearching
        case wasLastSearcher(looksAt: Int)
        case parks(searching: Bool, isCounted: Bool)
        case goesIdle
        case looksOnceMore(at: Int)
        case sleeps
        case runs
        /// Was told to park at a checkpoint of its job, and has not published that.
        case beginsWaiting
        case waitsAtCheckpoint
        case wakes(Waking, then: Worker)
    }

    /// The steps that can be left out, to see that the exploration notices.
    struct Omissions: OptionSet, Hashable {
        let rawValue: Int
        /// A worker that is not searching and took a batch wakes no other for it.
        static let sharing = Omissions(rawValue: 1)
        /// A thread that gives an admission back does not look for work.
        static let lookAfterGivingBack = Omissions(rawValue: 2)
        /// A worker that parks does not look once more.
        static let lookAfterParking = Omissions(rawValue: 4)
        /// A worker that waits at a checkpoint is no work: an admission goes to the stack of parked workers.
        static let waitingFirst = Omissions(rawValue: 8)
        /// A worker that waits at a checkpoint does not look once more.
        static let lookAfterWaiting = Omissions(rawValue: 16)
    }

    /// The bits of ``PoolWord`` without the version, which is there to fail swaps that are one step here.
    private static let withoutVersion: UInt64 = 1 << 30 - 1

    let width: Int
    let omissions: Omissions
    /// Whether every wake-up counts as late until the worker runs. Else none does.
    let wakesBesideLate: Bool
    /// Whether each wake-up prefers the second worker on the stack. Else none does.
    let prefersSecond: Bool
    var adders: [Adder]
    var fence: Fence
    var workers: [Worker]
    var word: UInt64 = 0
    var links: [Int?]
    var tokens: [Bool]
    var injected = 0
    var own: [Int]
    /// The number of nodes that the jobs may still add themselves.
    var spawns: Int
    /// The number of checkpoints that jobs may come to, and of promotions of a job that waits at one.
    var checkpoints: Int
    var promotions: Int
    /// Which workers wait at a checkpoint and have not been told to go on.
    var waiting: [Bool]
    var admission: AdmissionModel

    /// - Parameter adders: how many nodes each of them adds.
    init(
        width: Int, adders: [Int], spawns: Int = 0, checkpoints: Int = 0, promotions: Int = 0, hasFence: Bool = false,
        wakesBesideLate: Bool = false, prefersSecond: Bool = false, omissions: Omissions = []
    ) {
        self.width = width
        self.omissions = omissions
        self.wakesBesideLate = wakesBesideLate
        self.prefersSecond = prefersSecond
        self.adders = adders.map { .pushes(left: $0) }
        self.spawns = spawns
        self.checkpoints = checkpoints
        self.promotions = promotions
        waiting = Array(repeating: false, count: width)
        fence = hasFence ? .raises : .done
        workers = Array(repeating: .noThread, count: width)
        links = Array(repeating: nil, count: width)
        tokens = Array(repeating: false, count: width)
        own = Array(repeating: 0, count: width)
        admission = AdmissionModel(limit: width)
    }

    // MARK: What must never be

    /// Work is queued, some worker could take it, and no thread is about to act: only jobs move, and they may take for
    /// ever.
    var violation: String? {
        if admission.hasUnderflowed { return "a worker left that was not admitted" }
        guard protocolSteps.isEmpty else { return nil }
        let inJobs = workers.filter { $0 == .runs }.count
        if admission.running != inJobs { return "\(inJobs) workers run, \(admission.running) are counted" }
        if waiting.contains(true), admission.running < admission.limit {
            return "a worker waits at a checkpoint, its class may run, and nobody is on the way"
        }
        let isSomebodyFree = workers.contains { $0 == .sleeps || $0 == .noThread }
        let isWorkLeft = injected + own.reduce(0, +) > 0
        return isWorkLeft && isSomebodyFree ? "work is queued, a worker is free, and nobody is on the way" : nil
    }

    // MARK: What can happen

    typealias Step = (name: String, next: PoolModel)

    var steps: [Step] { protocolSteps + jobSteps }

    private var protocolSteps: [Step] {
        adders.indices.flatMap(adderSteps) + workers.indices.flatMap { workerSteps($0) } + fenceSteps
    }

    private var jobSteps: [Step] { runningSteps + promotionSteps }

    private var promotionSteps: [Step] {
        guard promotions > 0 else { return [] }
        return workers.indices.filter { waiting[$0] }.map { index in
            after("worker \(index)'s job is promoted") {
                $0.promotions -= 1
                $0.waiting[index] = false
                $0.admission.workerCounted()
                $0.tokens[index] = true
            }
        }
    }

    private var runningSteps: [Step] {
        workers.indices.filter { workers[$0] == .runs }.flatMap { index in
            var steps = [after("worker \(index)'s job ends") { $0.workers[index] = .atBoundary(searching: false) }]
            if spawns > 0 {
                steps.append(
                    after("worker \(index)'s job adds a node") {
                        $0.spawns -= 1
                        $0.own[index] += 1
                        $0.workers[index] = .wakes(.looks, then: .runs)
                    })
            }
            if checkpoints > 0, admission.mustAsk {
                steps.append(
                    after("worker \(index)'s job asks at a checkpoint") { model in
                        model.checkpoints -= 1
                        let (parks, admits) = model.admission.workerAsked()
                        let next: Worker = parks ? .beginsWaiting : .runs
                        model.workers[index] = admits ? .wakes(.wakesAdmitted, then: next) : next
                    })
            }
            return steps
        }
    }

    func after(_ name: String, _ change: (inout PoolModel) -> Void) -> Step {
        var next = self
        change(&next)
        return (name, next)
    }

    private func adderSteps(_ index: Int) -> [Step] {
        switch adders[index] {
        case .pushes(let left):
            [
                after("adder \(index) pushes") {
                    $0.injected += 1
                    $0.adders[index] = .wakes(.looks, left: left - 1)
                }
            ]
        case .wakes(let waking, let left):
            [
                after("adder \(index) \(waking)") {
                    let next = $0.wake(waking)
                    $0.adders[index] = next.map { .wakes($0, left: left) } ?? (left > 0 ? .pushes(left: left) : .done)
                }
            ]
        case .done:
            []
        }
    }

    private var fenceSteps: [Step] {
        switch fence {
        case .raises:
            [
                after("a fence is raised") {
                    _ = $0.admission.limitChanged(to: 0)
                    $0.fence = .lifts
                }
            ]
        case .lifts:
            [
                after("the fence is lifted") {
                    $0.fence = $0.admission.limitChanged(to: width) ? .wakes(.wakesAdmitted) : .done
                }
            ]
        case .wakes(let waking):
            [after("who lifted the fence \(waking)") { $0.fence = $0.wake(waking).map { .wakes($0) } ?? .done }]
        case .done:
            []
        }
    }

    // MARK: What the pool and the scheduler's core do

    /// One step of asking for a worker.
    ///
    /// - Returns: the next one; `nil` when it is done.
    mutating func wake(_ waking: Waking) -> Waking? {
        switch waking {
        case .looks:
            let seen = PoolWord(rawValue: word)
            let isNobodyLeft = seen.parkedTop == nil && seen.started >= width && !isWaitingWork
            let isSearched = seen.searching > 0 && (seen.parkedTop == nil || !isWakeLate)
            return isSearched || isNobodyLeft ? nil : .asksAdmission
        case .asksAdmission:
            return admission.workBecameRunnable() ? .wakesAdmitted : nil
        case .wakesAdmitted:
            return wakeAdmitted()
        case .putsBack(let worker, let woken):
            let top = PoolWord(rawValue: word).parkedTop
            links[worker] = top
            word = PoolWord(rawValue: word).workerParks(worker, wasSearching: false).rawValue & Self.withoutVersion
            tokens[woken] = true
            return nil
        case .givesBack:
            admission.workerWentIdle()
            return omissions.contains(.lookAfterGivingBack) ? nil : .looksForWork(at: 0)
        case .looksForWork(let source):
            if hasWork(at: source) { return .looks }
            return source < width ? .looksForWork(at: source + 1) : nil
        }
    }

    /// Whether a woken worker does not run yet, in a world where any wake-up may be late.
    var isWakeLate: Bool {
        wakesBesideLate && zip(workers, tokens).contains { worker, hasToken in worker == .sleeps && hasToken }
    }

    /// Whether a worker waits at a checkpoint, as far as the pool takes that for work.
    private var isWaitingWork: Bool { !omissions.contains(.waitingFirst) && waiting.contains(true) }

    private mutating func wakeAdmitted() -> Waking? {
        if isWaitingWork, let worker = waiting.firstIndex(of: true) {
            waiting[worker] = false
            tokens[worker] = true
            return nil
        }
        let (next, notification) = PoolWord(rawValue: word).workAdded(
            width: width, isLate: isWakeLate, prefersSecond: { _, _ in prefersSecond }, nextParked: { links[$0] })
        word = next.rawValue & Self.withoutVersion
        switch notification {
        case .nothing:
            guard let worker = waiting.firstIndex(of: true) else { return .givesBack }
            waiting[worker] = false
            tokens[worker] = true
        case .unpark(let worker, .none): tokens[worker] = true
        case .unpark(let worker, .some(let other)): return .putsBack(other, thenUnparks: worker)
        case .start(let worker): workers[worker] = .requested
        }
        return nil
    }

    mutating func update<Result>(_ transition: (PoolWord) -> (PoolWord, Result)?) -> Result? {
        guard let (next, result) = transition(PoolWord(rawValue: word)) else { return nil }
        word = next.rawValue & Self.withoutVersion
        return result
    }

    /// Returns the result of a look at one source: the own queues by index, then the injection queue and the
    /// checkpoints.
    func hasWork(at source: Int) -> Bool {
        source < width ? own[source] > 0 : injected > 0 || isWaitingWork
    }
}
