import QoSCore
import QoSEventLoop
import QoSKernel
import Synchronization

/// The pools of one scheduler, and the state that their workers share: admission, places, and the calls to the loop.
///
/// Threading: any thread, except where a method says "the loop's thread".
// SAFETY: the tables are filled before the first thread starts, and freed when the last reference is gone; the rest is
// atomic, locked or never changes.
@safe
final class PoolGroup: @unchecked Sendable {
    /// The number of this scheduler among those of the process, 1…63. 0 for a scheduler that came when all numbers were
    /// taken: its waiting tasks are raised a moment later.
    var number: Int { ownNumber.value }
    private let ownNumber = SchedulerNumber()

    /// The pools, by rank.
    let pools = UnsafeSharedTable<ClassPool>(count: QoSClass.allCases.count)

    /// The executors on behalf of which jobs run, by the executor's index.
    let executorTable: UnsafeMutablePointer<UnownedTaskExecutor>

    /// The loop. Its thread starts workers and looks at them.
    let loop: EventLoop
    let alarm: LoopAlarm

    /// The limits to the number of workers at work, by class.
    let admission: Admission

    /// The budget of processor time for the low classes, in a control group with a quota.
    let budget: BudgetWatch

    let settings: PoolSettings

    /// The number of processors that the process may use at a time. It follows affinity and quota. Written by the
    /// loop's thread.
    private let currentWidth: Atomic<Int>

    /// The processors on which the workers run.
    let places: WorkerPlaces

    /// The state by which workers call the loop.
    let calls: LoopSignals

    /// The number of threads that have been started and have not ended.
    let workersLeft = Atomic<Int>(0)

    /// Whether workers leave and submissions go to the default executor.
    let closedFlag = Atomic<Bool>(false)

    /// Whether the scheduler drains, or is closed. Work is then treated as it declared for a shutdown, and the loop
    /// must hear of workers that park.
    let drainingFlag = Atomic<Bool>(false)

    /// The counters of workers whose threads wait in the kernel with their job unfinished.
    let blocking = BlockingCounters()

    /// The counters of promotions so far.
    let promotions = PromotionCounters()

    /// The counters of the loop so far.
    let loopCounters = LoopCounters()

    /// The classes without a thread, because the system refuses it.
    let threadless = ThreadlessClasses()

    /// Whether the workers of background do the work of every class.
    let clamp = ClassClamp()

    /// The limits of the runtime and of the system that the scheduler has reached.
    let limitsReached = Lock<Set<SchedulerLimit>>([])

    /// The counters of the timers that have fired.
    let timerTally = TimerTally()

    /// The place where other processes see the scheduler.
    let shown: DiagnosticsSlot

    /// The ring of the loop's thread.
    let loopRing = Atomic<Int>(0)

    init(settings: PoolSettings, loop: EventLoop) {
        self.settings = settings
        self.loop = loop
        shown = DiagnosticsSlot(
            number: ownNumber.value,
            workers: QoSClass.allCases.map { qosClass in
                ClassPool.capacity(
                    width: settings.workers(of: qosClass, width: settings.width), mostWide: settings.mostWide)
            })
        alarm = LoopAlarm(loop: loop)
        currentWidth = Atomic(settings.width)
        calls = LoopSignals(loop: loop)
        admission = Admission(processors: settings.width, parameters: settings.parameters)
        budget = BudgetWatch(parameters: settings.parameters)
        unsafe executorTable = .allocate(capacity: ExecutorIndex.count)
        places = WorkerPlaces(settings: settings, pools: pools, admission: admission)
        pools.fill { rank, place in
            let qosClass = QoSClass(atRank: rank)
            return ClassPool(
                qosClass, width: settings.workers(of: qosClass, width: settings.width), mostWide: settings.mostWide,
                spin: PoolSettings.spin(of: qosClass), group: self, at: place)
        }
        for (qosClass, count) in settings.ownWidths { admission.setOwnWidth(rank: qosClass.rank, to: count) }
        places.use(width: settings.width)
        showWidths()
        followQuota(settings.topology.quota, processors: settings.topology.processors.count)
    }

    deinit {
        // While the scheduler still has its number.
        shown.leave()
        pools.free()
        unsafe executorTable.deallocate()
    }

    /// The processors of the scheduler to which the calling worker belongs; `nil` on another thread.
    static var processorsOfCallingWorker: CPUSet? {
        guard let worker = Worker.current else { return nil }
        let outer = worker.group.places.processors.withLock { $0 }
        return outer.isEmpty ? nil : outer
    }

    var profile: KernelProfile? { settings.profile }

    @inline(__always)
    var width: Int { currentWidth.load(ordering: .relaxed) }

    func setWidth(_ width: Int) {
        currentWidth.store(width, ordering: .relaxed)
    }

    /// Reports an event to the observer, if there is one.
    @inline(__always)
    func observe(_ event: @autoclosure () -> SchedulerEvent) {
        settings.observer?.observe(event())
    }

    /// Notes that the scheduler has reached a limit. Tells the observer the first time. No hot path calls it.
    func reached(_ limit: SchedulerLimit) {
        guard limitsReached.withLock({ $0.insert(limit).inserted }) else { return }
        TimerTally.process.reached(limit: limit.number)
        observe(.limitReached(limit))
    }

    // MARK: State for workers

    @inline(__always)
    var isClosed: Bool { closedFlag.load(ordering: .relaxed) }

    /// The same, for a thread that has made itself known to the closing thread before.
    var isClosedForAll: Bool { closedFlag.load(ordering: .sequentiallyConsistent) }

    /// Whether work is treated as it declared for a shutdown.
    @inline(__always)
    var isEnding: Bool { drainingFlag.load(ordering: .sequentiallyConsistent) }

    /// Whether some processor has none of our workers. Only then does a spinning worker take nothing from another.
    @inline(__always)
    var hasIdleCore: Bool { busy <= min(width, settings.mostUsable) }

    /// Returns the processor of the calling thread, if a worker that it wakes leaves that one to it; else `nil`.
    ///
    /// A thread that is not ours, such as an event loop of the program, would else lose its processor to the worker with
    /// each wake-up, and its own next event would wait for the job. While a processor is idle, a wake-up there costs
    /// more than that wait.
    @inline(__always)
    func processorOfCaller(wakingRank rank: Int) -> Int? {
        guard rank >= QoSClass.userInitiated.rank, !hasCoreForAnother, Worker.current == nil, !loop.isOnLoopThread
        else { return nil }
        return Topology.currentProcessor()
    }

    /// Whether some processor is left to one more thread.
    var hasCoreForAnother: Bool { busy < min(width, settings.mostUsable) }

    /// The number of workers that use a processor, as far as is known.
    @inline(__always)
    private var busy: Int { calls.awake.load(ordering: .relaxed) - blocking.now.load(ordering: .relaxed) }

    /// Notes that a worker wakes up. Called by the waking thread, or by the worker itself.
    @inline(__always)
    func workerWakes() {
        calls.workerWakes(width: width)
    }

    func workerParks() {
        calls.workerParks()
        if isEnding { loop.wake() }
    }

    /// Performs a worker's last act. Its remaining nodes go where new submissions go.
    func workerExits(_ worker: WorkerRef) {
        forward(worker.value.queue.takeAll())
        forward(worker.pool.value.injection.takeAll())
        places.sleeps(rank: worker.qosClass.rank, worker.index)
        worker.value.accountThread()
        worker.value.change(.ends)
        calls.workerParks()
        workersLeft.wrappingSubtract(1, ordering: .sequentiallyConsistent)
        loop.wake()
    }

    // MARK: After the end

    /// Gives work of a closed scheduler's pool to the process's default executor: a task must go on even if its
    /// executor has been shut down.
    func forward(_ nodes: consuming NodeList) {
        while let node = nodes.popFirst() {
            if node.tag.isJob {
                forward(node.job, isCancelled: node.tag.shutdownBehavior == .skip)
            } else {
                Task.detached { node.runActivation(on: nil) }
            }
        }
    }

    /// Hands a job to the default executor, and cancels it there if required. The cancellation handlers are foreign
    /// code, and the caller may be submitting under locks of its own.
    private func forward(_ job: UnownedJob, isCancelled: Bool) {
        guard isCancelled else { return globalConcurrentExecutor.enqueue(job) }
        Task.detached {
            ConcurrencyRuntime.cancel(job)
            globalConcurrentExecutor.enqueue(job)
        }
    }
}
