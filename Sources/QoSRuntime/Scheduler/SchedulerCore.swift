import QoSCore
import QoSEventLoop
import QoSKernel
import Synchronization

/// The pools, the loop and the timers of one scheduler: what its threads and executors share.
///
/// Threading: any thread, except where a method says "the loop's thread".
// SAFETY: the tables are filled before the first thread starts and freed when the last reference is gone; `phase`,
// `threads`, `nextRescan` and `lastRescan` belong to the loop's thread; the rest is atomic, locked or never changes.
@safe
final class SchedulerCore: @unchecked Sendable {
    /// Tells the schedulers of a process apart, 1…63; 0 for one that came when all numbers were taken: its waiting tasks are
    /// raised a moment later.
    var number: Int { ownNumber.value }
    private let ownNumber = SchedulerNumber()

    /// The pools, by rank.
    let pools: UnsafeMutablePointer<ClassPool>

    /// As whose a job is run, by the executor's index.
    let executorTable: UnsafeMutablePointer<UnownedTaskExecutor>

    let loop: EventLoop
    let timers = TimerService()
    let alarm: LoopAlarm

    /// What is watched for work queues; ends with the loop.
    let sources = SourceRegistry()

    /// Which class may have how many workers at work.
    let admission: Admission

    let configuration: QoSScheduler.Configuration

    /// How many processors the process may use at a time; it follows affinity and quota. Written by the loop's thread.
    private let currentWidth: Atomic<Int>

    /// The processors that the process may use.
    let processors: Lock<CPUSet>

    /// What the process may use, where the scheduler was made by a worker of another one, which may be bound to one processor; the
    /// threads of this one would inherit that.
    let unbound: CPUSet?

    /// How many processors the affinity allowed when it was last read; the loop's thread.
    var widthWithoutQuota: Int

    /// When affinity and quota are read next, monotonic nanoseconds; the loop's thread.
    var nextTopology: UInt64 = 0

    /// Which processors run workers of the high classes.
    let placement: Placement

    /// Whether these workers have their processors for themselves, by seat; which processors others have taken; how often a worker had
    /// found none at the last look. The loop's thread.
    var pins: [Int: PinWatch] = [:]
    var takenProcessors = TakenProcessors()
    var shortagesSeen: UInt64 = 0

    /// Since when jobs wait, by rank; the loop's thread.
    var ages = Array(repeating: QueueAge(), count: QoSClass.allCases.count)

    /// How long a job may take before it counts as stalled, nanoseconds, by rank.
    let stallLimits: [UInt64]

    /// What the kernel lets the process do; `nil` when no effects are to be applied.
    let profile: KernelProfile?

    /// Workers that are not parked; spinning is worth it only while they are fewer than the processors.
    let awake = Atomic<Int>(0)

    /// Whether workers leave and submissions go elsewhere: the outside of ``SchedulerPhase``.
    let closedFlag = Atomic<Bool>(false)

    /// Whether the scheduler drains, or is closed: what declares something for a shutdown is treated as it declares, and the loop
    /// wants to hear of workers that park.
    let drainingFlag = Atomic<Bool>(false)

    /// The work that a shutdown waits for because it said so.
    let shutdownHolds = ShutdownHolds()

    /// The threads, other than workers, that sleep until something of a work queue has ended.
    let sleepers = SleepingThreads()

    /// Threads that have been started and have not come to their end.
    let workersLeft = Atomic<Int>(0)

    let startFailures = Atomic<UInt64>(0)

    /// Whether something waits behind busy workers, so that the loop has to look for tasks that were raised.
    let backlogFlag = Atomic<Bool>(false)

    /// Workers whose threads wait in the kernel with their job unfinished, now; and how often that was said and seen so far.
    let blockedWorkers = Atomic<Int>(0)
    let blockedDeclared = Atomic<UInt64>(0)
    let blockedDetected = Atomic<UInt64>(0)

    /// How often nobody could stand in for a blocked worker, because too many did already.
    let uncompensated = Atomic<UInt64>(0)

    /// How often a job took longer than its class should.
    let stalls = Atomic<UInt64>(0)

    /// Whether the loop looks at the workers now and then; and when next, the loop's thread.
    let isWatching = Atomic<Bool>(false)
    var nextWatch: UInt64 = 0

    /// 1 + the rank of the class that has left a processor to those below it, whose threads are bound to that; 0 for none.
    let lentBy = Atomic<UInt8>(0)

    /// Whether what a running item of a work queue is raised to has changed since the loop looked last.
    let itemsChanged = Atomic<Bool>(false)

    /// When the loop looks next, and looked last; the loop's thread.
    var nextRescan: UInt64?
    var lastRescan: UInt64 = 0

    /// Whether that is far away, since no worker is awake: what waits is paused, or waits for a thread.
    let isLookingSlowly = Atomic<Bool>(false)

    /// How many waiting tasks were moved to a higher pool because something there waits for them.
    let tasksMoved = Atomic<UInt64>(0)

    /// How many running tasks were raised because something of a higher class waits for them.
    let runningPromoted = Atomic<UInt64>(0)

    var phase = SchedulerPhase.running
    var threads: [WorkerThread] = []

    /// Who waits for the end.
    let shutdownRequests = Lock(ShutdownRequests())

    /// What each worker's thread was given by the kernel.
    let effects = Lock<[WorkerEffects]>([])

    /// The core is retained by the loop's and the workers' threads while they run, so the loop refers back weakly.
    // SAFETY: set once before the loop runs; afterwards read on the loop's thread only, which retains the core.
    private final class Link: @unchecked Sendable {
        unowned(unsafe) var core: SchedulerCore?
    }

    init(configuration: QoSScheduler.Configuration) throws {
        self.configuration = configuration
        let unbound = Self.processorsOfOuter
        self.unbound = unbound
        let (width, withoutQuota) = try configuration.resolvedWidth(outOf: unbound)
        widthWithoutQuota = withoutQuota
        currentWidth = Atomic(width)
        profile = configuration.profile
        processors = Lock(
            profile.map { unbound ?? (try? $0.calls.affinity(of: .current)) ?? $0.processors } ?? CPUSet([]))
        stallLimits = QoSClass.allCases.map { qosClass in
            (configuration.stallLimits[qosClass] ?? QoSScheduler.Configuration.defaultStallLimit(of: qosClass))
                .clampedNanoseconds
        }
        admission = Admission(processors: width, parameters: configuration.parameters(for: profile))
        let mostWide = configuration.processors ?? max(width, Topology.installedProcessors)
        placement = Placement(
            seats: [QoSClass.userInitiated, .userInteractive].reduce(0) { sum, qosClass in
                sum + ClassPool.capacity(width: configuration.workers(of: qosClass, width: width), mostWide: mostWide)
            })
        let link = Link()
        loop = try EventLoop(
            onWake: { unsafe link.core?.loopWoke() },
            onTimer: { unsafe link.core?.loopWoke() }
        )
        alarm = LoopAlarm(loop: loop)
        unsafe pools = .allocate(capacity: QoSClass.allCases.count)
        unsafe executorTable = .allocate(capacity: PoolExecutor.count)
        unsafe link.core = self
        for qosClass in QoSClass.allCases {
            let pool = unsafe pools + qosClass.rank
            unsafe pool.initialize(
                to: ClassPool(
                    qosClass, width: configuration.workers(of: qosClass, width: width),
                    mostWide: mostWide,
                    spin: configuration.spin(of: qosClass), core: self, at: pool))
        }
        for (qosClass, count) in configuration.workers { admission.setOwnWidth(rank: qosClass.rank, to: count) }
        usePlacement()
    }

    private static var processorsOfOuter: CPUSet? {
        guard let worker = unsafe Worker.current else { return nil }
        let outer = unsafe worker.pointee.pool.pointee.core.processors.withLock { $0 }
        return outer.isEmpty ? nil : outer
    }

    deinit {
        unsafe pools.deinitialize(count: QoSClass.allCases.count)
        unsafe pools.deallocate()
        unsafe executorTable.deallocate()
    }

    /// Puts an executor into its place of the table; once each, before anything is submitted.
    func register(_ executor: PoolExecutor) {
        unsafe (executorTable + executor.index).initialize(to: executor.asUnownedTaskExecutor())
        if executor.index == 0 { unsafe ConcurrencyRuntime.noteImplementation(of: executorTable[0]) }
    }

    @inline(__always)
    var width: Int { currentWidth.load(ordering: .relaxed) }

    func setWidth(_ width: Int) {
        currentWidth.store(width, ordering: .relaxed)
    }

    // MARK: What workers say

    @inline(__always)
    var isClosed: Bool { closedFlag.load(ordering: .relaxed) }

    /// The same, for a thread that has made itself known to ``close()`` before.
    var isClosedForAll: Bool { closedFlag.load(ordering: .sequentiallyConsistent) }

    /// Whether a processor has none of our workers: only then does a worker that spins take nothing from another.
    @inline(__always)
    var hasIdleCore: Bool { awake.load(ordering: .relaxed) - blockedWorkers.load(ordering: .relaxed) <= width }

    /// Whether work is treated as it declares for a shutdown.
    @inline(__always)
    var isEnding: Bool { drainingFlag.load(ordering: .sequentiallyConsistent) }

    func workerParks() {
        awake.wrappingSubtract(1, ordering: .sequentiallyConsistent)
        if isEnding { loop.wake() }
    }

    /// A worker's last act: what it still held goes where new submissions go.
    func workerExits(_ worker: UnsafeMutablePointer<Worker>) {
        unsafe forward(worker.pointee.queue.takeAll())
        unsafe forward(worker.pointee.pool.pointee.injection.takeAll())
        unsafe unplaceWorker(rank: worker.pointee.pool.pointee.qosClass.rank, worker.pointee.index)
        unsafe worker.pointee.accountThread()
        unsafe worker.pointee.hasLeft.store(true, ordering: .releasing)
        awake.wrappingSubtract(1, ordering: .sequentiallyConsistent)
        workersLeft.wrappingSubtract(1, ordering: .sequentiallyConsistent)
        loop.wake()
    }

    // MARK: After the end

    /// Work that was submitted to a pool of a closed scheduler is run by the process's default executor: a task must
    /// go on even where its executor has been shut down.
    func forward(_ nodes: consuming NodeList) {
        while let node = nodes.popFirst() {
            if node.tag.isJob {
                forward(node.job, isCancelled: node.tag.shutdownBehavior == .skip)
            } else {
                Task.detached { unsafe node.runActivation(on: nil) }
            }
        }
    }

    /// Hands a job to the default executor. A cancellation is made there as well: its handlers are foreign code, and the caller may be
    /// in the midst of submitting, under locks of its own.
    private func forward(_ job: UnownedJob, isCancelled: Bool) {
        guard isCancelled else { return globalConcurrentExecutor.enqueue(job) }
        Task.detached {
            ConcurrencyRuntime.cancel(job)
            globalConcurrentExecutor.enqueue(job)
        }
    }
}
