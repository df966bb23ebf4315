import QoSCore
import QoSKernel
import Synchronization

/// Which processor runs whom: the high classes by placement, the low ones by what is lent to them (`Docs/Protocols/placement.md`).
///
/// Threading: any thread, except where a method says "the loop's thread".
// SAFETY: `watch` belongs to the loop's thread, and to the initializer of the pools before that; the rest is atomic, locked or never
// changes.
@safe
struct WorkerPlaces: ~Copyable, @unchecked Sendable {
    /// The processors that the process may use.
    let processors: Lock<CPUSet>

    /// Which processors run workers of the high classes.
    private let placement: Placement

    /// What the loop has seen when it looked last.
    private let watch = PlaceWatch()

    /// 1 + the rank of the class that has left a processor to those below it, whose threads are bound to that; 0 for none.
    private let lentBy = Atomic<UInt8>(0)

    private let pools: UnsafeMutablePointer<ClassPool>
    private let admission: Admission
    private let profile: KernelProfile?

    /// Whether the number of processors was given, and so tells nothing of which they are.
    private let isFixedWidth: Bool

    /// - Parameter pools: the pools, by rank, which are made afterwards.
    init(settings: PoolSettings, pools: UnsafeMutablePointer<ClassPool>, admission: Admission) {
        unsafe self.pools = pools
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

    /// The classes whose workers are placed.
    private static let lowestPlaced = QoSClass.userInitiated.rank

    /// The seat of a worker; `nil` in a class whose workers are not placed.
    @inline(__always)
    private func seatOfWorker(rank: Int, _ index: Int) -> Int? {
        guard rank >= Self.lowestPlaced else { return nil }
        return unsafe rank == Self.lowestPlaced ? index : pools[Self.lowestPlaced].capacity + index
    }

    /// A worker is about to run: it gets a processor, where it is of a high class and one is free. Whoever wakes it, or itself.
    @inline(__always)
    func wakes(rank: Int, _ index: Int) {
        if let seat = seatOfWorker(rank: rank, index) { placement.wake(seat) { bind(seat: $0, to: $1) } }
    }

    /// A worker does not run any more: its processor goes to another one.
    @inline(__always)
    func sleeps(rank: Int, _ index: Int) {
        if let seat = seatOfWorker(rank: rank, index) { placement.sleep(seat) { bind(seat: $0, to: $1) } }
    }

    /// The calling thread is a worker's new one.
    func beginsOnNewThread(rank: Int, _ index: Int) {
        guard let seat = seatOfWorker(rank: rank, index) else { return }
        placement.threadBegan(seat)
        // Noted by the worker's loop only once it runs.
        unsafe pools[rank].workers[index].threadID.store(ThreadID.current.rawValue, ordering: .relaxed)
        placement.wake(seat) { bind(seat: $0, to: $1) }
    }

    /// A thread that has just ended, or may not be bound, stays as it is.
    private func bind(seat: Int, to processor: Int?) {
        let below = unsafe pools[Self.lowestPlaced].capacity
        let (rank, index) = seat < below ? (Self.lowestPlaced, seat) : (Self.lowestPlaced + 1, seat - below)
        let thread = unsafe pools[rank].workers[index].threadID.load(ordering: .relaxed)
        guard thread != 0, let profile else { return }
        let processors = processor.map { CPUSet([$0]) } ?? self.processors.withLock { $0 }
        try? profile.calls.setAffinity(processors, of: ThreadID(rawValue: thread))
    }

    // MARK: Which processors are used

    /// Uses all processors of the process but those that others have taken; none where there are more of them than workers run at a
    /// time, since the kernel knows better then which are idle. Before the first thread, or the loop's thread.
    func use(width: Int, anew: Bool = false) {
        placement.use(placedProcessors(width: width), anew: anew) { bind(seat: $0, to: $1) }
    }

    private func placedProcessors(width: Int) -> CPUSet {
        let ids = processors.withLock { $0 }.ids
        guard let profile, profile.capabilities.allows(.affinity), !isFixedWidth, ids.count == width,
            ids.count > 1
        else { return CPUSet([]) }
        return CPUSet(ids.filter { !watch.taken.contains($0) && $0 < Placement.mostProcessors })
    }

    /// The processors of the process have changed, or how many of them it may use at a time. The loop's thread.
    func useAnew(width: Int) {
        (watch.pins, watch.taken) = ([:], TakenProcessors())
        use(width: width, anew: true)
    }

    /// Looks whether others have taken the processors of workers. The loop's thread.
    func look(width: Int) {
        // Who had to share with another worker of ours has waited for that one.
        let shortages = placement.shortage
        let isJudged = shortages == watch.shortagesSeen
        watch.shortagesSeen = shortages
        var isChanged = watch.taken.looked()
        for rank in Self.lowestPlaced..<QoSClass.allCases.count {
            for index in unsafe 0..<pools[rank].started {
                guard let seat = seatOfWorker(rank: rank, index), let processor = placement.processor(of: seat),
                    let times = ThreadClock.ranAndWaited(
                        ThreadID(rawValue: unsafe pools[rank].workers[index].threadID.load(ordering: .relaxed)))
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

    // MARK: Processors that are left to lower classes

    /// A worker stands aside for classes that were kept off the processors for too long: what runs below it is bound to the
    /// processor that becomes free.
    ///
    /// Else threads of low classes may go on standing behind a busy one, in the queue of its processor, where the kernel leaves them for
    /// as long as its balancing takes; by then the window is over. Those between the two classes are bound, too: they stand aside as
    /// well, but only once they have come to the end of their job.
    func lend(rank: Int, worker index: Int) {
        guard let profile, admission.standsAside(rank: rank) else { return }
        let own = seatOfWorker(rank: rank, index).flatMap { placement.processor(of: $0) }
        guard let processor = own ?? Topology.currentProcessor() else { return }
        // The highest class that lends decides for how long: it has bound the most.
        lentBy.max(UInt8(rank + 1), ordering: .sequentiallyConsistent)
        placement.avoid(processor)
        let starving = admission.openWindows
        bindWorkers(below: rank, to: CPUSet([processor]), by: profile) { rank, index in
            unsafe starving.contains(QoSClass(atRank: rank))
                || !pools[rank].workers[index].isParked
        }
        // A thread that has taken it back meanwhile may have done so before the workers were bound.
        if lentBy.load(ordering: .sequentiallyConsistent) == 0 { freeWorkers(by: profile) }
    }

    /// Lets the threads of low classes run wherever the process may, once nobody stands aside for them any more.
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

    /// All of them: one class may have lent its processor while another did, and bound others.
    private func freeWorkers(by profile: KernelProfile) {
        placement.avoid(nil)
        bindWorkers(below: Self.lowestPlaced, to: processors.withLock { $0 }, by: profile) { _, _ in true }
    }

    /// A thread that has just ended, or may not be bound, stays as it is: the kernel's balancing does the rest.
    private func bindWorkers(
        below rank: Int, to processors: CPUSet, by profile: KernelProfile,
        where isWanted: (_ rank: Int, _ index: Int) -> Bool
    ) {
        for lower in 0..<min(rank, Self.lowestPlaced) {
            for index in unsafe 0..<pools[lower].started where isWanted(lower, index) {
                let thread = unsafe pools[lower].workers[index].threadID.load(ordering: .relaxed)
                if thread != 0 { try? profile.calls.setAffinity(processors, of: ThreadID(rawValue: thread)) }
            }
        }
    }
}
