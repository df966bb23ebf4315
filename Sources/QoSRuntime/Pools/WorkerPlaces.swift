import QoSCore
import QoSKernel
import Synchronization

/// The processors on which workers run: by placement for the high classes, by lending for the low ones
/// (`Docs/Inside/Protocols/placement.md`).
///
/// Threading: any thread, except where a method says "the loop's thread".
// SAFETY: only the loop's thread uses `watch`, and the initializer of the pools before that; the rest is atomic, locked
// or never changes.
@safe
struct WorkerPlaces: ~Copyable, @unchecked Sendable {
    /// The processors that the process may use.
    let processors: Lock<CPUSet>

    /// The processors on which workers of the high classes run.
    private let placement: Placement

    /// The results of the loop's last look.
    private let watch = PlaceWatch()

    /// 1 + the rank of the class that has left a processor to the lower classes, whose threads are bound to that
    /// processor; 0 for none.
    private let lentBy = Atomic<UInt8>(0)

    private let pools: UnsafeSharedTable<ClassPool>
    private let admission: Admission
    private let profile: KernelProfile?

    /// Whether the number of processors was given, and so does not tell which ones they are.
    private let isFixedWidth: Bool

    /// Makes the places.
    ///
    /// - Parameter pools: the pools, by rank, which are made afterwards.
    init(settings: PoolSettings, pools: UnsafeSharedTable<ClassPool>, admission: Admission) {
        self.pools = pools
        self.admission = admission
        profile = settings.profile
        isFixedWidth = settings.isFixedWidth
        processors = Lock(
            settings.profile.map {
                settings.unbound ?? (try? $0.calls.affinity(of: .current)) ?? $0.processors
            } ?? CPUSet([]))
        placement = Placement(
            seats: [QoSClass.userInitiated, .userInteractive].reduce(0) { sum, qosClass in
                let width = settings.workers(of: qosClass, width: settings.width)
                return sum + ClassPool.capacity(width: width, mostWide: settings.mostWide)
            })
    }

    /// The lowest of the classes whose workers are placed.
    private static let lowestPlaced = QoSClass.userInitiated.rank

    /// Returns the seat of a worker; `nil` in a class whose workers are not placed.
    @inline(__always)
    private func seatOfWorker(rank: Int, _ index: Int) -> Int? {
        guard rank >= Self.lowestPlaced else { return nil }
        return rank == Self.lowestPlaced ? index : pools[Self.lowestPlaced].capacity + index
    }

    /// Gives a processor, if one is free, to a worker of a high class that is about to run. Called by the waking
    /// thread, or by the worker itself.
    ///
    /// - Parameter spared: a processor to leave to another thread, if another one is free.
    @inline(__always)
    func wakes(rank: Int, _ index: Int, sparing spared: Int? = nil) {
        guard let seat = seatOfWorker(rank: rank, index) else { return }
        placement.wake(seat, sparing: spared) { bind(seat: $0, to: $1) }
    }

    /// Whether a worker had the spared processor last, and another one had a different one. A thread that is bound anew
    /// soon after its sleep waits for longer: probably the kernel scales its debt of processor time for the new queue.
    @inline(__always)
    func avoids(_ spared: Int?, rank: Int, _ index: Int, butNot other: Int) -> Bool {
        guard let spared, let seat = seatOfWorker(rank: rank, index), let second = seatOfWorker(rank: rank, other)
        else { return false }
        return placement.lastProcessor(of: seat) == spared && placement.lastProcessor(of: second) != spared
    }

    /// Takes the processor from a worker that no longer runs, for another one.
    @inline(__always)
    func sleeps(rank: Int, _ index: Int) {
        if let seat = seatOfWorker(rank: rank, index) { placement.sleep(seat) { bind(seat: $0, to: $1) } }
    }

    /// Notes that the calling thread is a worker's new one.
    func beginsOnNewThread(rank: Int, _ index: Int) {
        guard let seat = seatOfWorker(rank: rank, index) else { return }
        placement.threadBegan(seat)
        // The worker's loop notes it only once it runs.
        pools[rank].workers[index].threadID.store(ThreadID.current.rawValue, ordering: .relaxed)
        placement.wake(seat) { bind(seat: $0, to: $1) }
    }

    /// Binds the thread of a seat. A thread that has just ended, or may not be bound, stays as it is.
    private func bind(seat: Int, to processor: Int?) {
        let below = pools[Self.lowestPlaced].capacity
        let (rank, index) = seat < below ? (Self.lowestPlaced, seat) : (Self.lowestPlaced + 1, seat - below)
        let thread = pools[rank].workers[index].threadID.load(ordering: .relaxed)
        guard thread != 0, let profile else { return }
        let processors = processor.map { CPUSet([$0]) } ?? self.processors.withLock { $0 }
        try? profile.calls.setAffinity(processors, of: ThreadID(rawValue: thread))
    }

    // MARK: The processors in use

    /// Uses all processors of the process except those that others have taken.
    ///
    /// Uses none if there are more of them than workers run at a time: then the kernel knows better which of them are
    /// idle. Before the first thread, or on the loop's thread.
    func use(width: Int, anew: Bool = false) {
        let placed = placedProcessors(width: width)
        placement.use(placed, leavesOthers: placed.count < processors.withLock { $0 }.count, anew: anew) {
            bind(seat: $0, to: $1)
        }
    }

    private func placedProcessors(width: Int) -> CPUSet {
        let ids = processors.withLock { $0 }.ids
        guard let profile, profile.capabilities.allows(.affinity), !isFixedWidth, ids.count == width,
            ids.count > 1
        else { return CPUSet([]) }
        return CPUSet(ids.filter { !watch.taken.contains($0) && $0 < Placement.mostProcessors })
    }

    /// Places all workers anew, after a change of the process's processors or of the number that it may use at a time.
    /// The loop's thread.
    func useAnew(width: Int) {
        (watch.pins, watch.taken) = ([:], TakenProcessors())
        use(width: width, anew: true)
    }

    /// Looks whether others have taken the processors of workers. The loop's thread.
    func look(width: Int) {
        // A worker that shared a processor with another worker of ours has waited for that worker.
        let shortages = placement.shortage
        let isJudged = shortages == watch.shortagesSeen
        watch.shortagesSeen = shortages
        var isChanged = watch.taken.looked()
        for rank in Self.lowestPlaced..<QoSClass.allCases.count {
            for index in 0..<pools[rank].started {
                guard let seat = seatOfWorker(rank: rank, index), let processor = placement.processor(of: seat),
                    let times = ThreadClock.ranAndWaited(
                        ThreadID(rawValue: pools[rank].workers[index].threadID.load(ordering: .relaxed)))
                else { continue }
                let isTaken = watch.pins[seat, default: PinWatch()].looked(
                    on: isJudged ? processor : nil, ran: times.ran, waited: times.waited)
                guard isTaken else { continue }
                watch.taken.insert(processor)
                isChanged = true
            }
        }
        if isChanged { use(width: width) }
    }

    // MARK: Processors lent to lower classes

    /// Lends a processor when a worker stands aside for classes that were kept off the processors for too long. Threads
    /// of lower classes are bound to the freed processor, or to the others.
    ///
    /// Otherwise a thread of a low class may stay behind a busy thread, in the queue of that thread's processor. The
    /// kernel leaves it there until its balancing runs, and by then the window is over.
    func lend(rank: Int, worker index: Int) {
        guard let profile, admission.standsAside(rank: rank) else { return }
        let own = seatOfWorker(rank: rank, index).flatMap { placement.processor(of: $0) }
        guard let processor = own ?? Topology.currentProcessor() else { return }
        // The highest lending class decides for how long: it has bound the most threads.
        lentBy.max(UInt8(rank + 1), ordering: .sequentiallyConsistent)
        placement.avoid(processor)
        let lending = Lending(starving: admission.openWindows)
        let lent = CPUSet([processor])
        let others = CPUSet(processors.withLock { $0 }.ids.filter { $0 != processor })
        bindWorkers(below: rank, by: profile) { rank, index in
            switch lending.place(rank: rank, isParked: pools[rank].workers[index].isParked) {
            case .lent: lent
            case .others: others
            case .anywhere: nil
            }
        }
        // A thread that took the processor back meanwhile may have done so before the workers were bound.
        if lentBy.load(ordering: .sequentiallyConsistent) == 0 { freeWorkers(by: profile) }
    }

    /// Lets the threads of low classes run on all processors of the process again, once no class stands aside for them.
    @inline(__always)
    func takeBack() {
        let lender = lentBy.load(ordering: .relaxed)
        if lender != 0, !admission.standsAside(rank: Int(lender) - 1) { takeBack(from: lender) }
    }

    private func takeBack(from lender: UInt8) {
        guard let profile,
            lentBy.compareExchange(expected: lender, desired: 0, ordering: .sequentiallyConsistent).exchanged
        else { return }
        freeWorkers(by: profile)
    }

    /// Frees the workers of all low classes: two classes may have lent processors at a time, and bound different
    /// workers.
    private func freeWorkers(by profile: KernelProfile) {
        placement.avoid(nil)
        let all = processors.withLock { $0 }
        bindWorkers(below: Self.lowestPlaced, by: profile) { _, _ in all }
    }

    /// Binds workers of lower classes. A thread that has just ended, or may not be bound, stays as it is: the kernel's
    /// balancing does the rest.
    ///
    /// - Parameter place: the processors of a worker; `nil`, or an empty set, if it stays as it is.
    private func bindWorkers(
        below rank: Int, by profile: KernelProfile, to place: (_ rank: Int, _ index: Int) -> CPUSet?
    ) {
        for lower in 0..<min(rank, Self.lowestPlaced) {
            for index in 0..<pools[lower].started {
                let thread = pools[lower].workers[index].threadID.load(ordering: .relaxed)
                guard thread != 0, let processors = place(lower, index), !processors.isEmpty else { continue }
                try? profile.calls.setAffinity(processors, of: ThreadID(rawValue: thread))
            }
        }
    }
}
