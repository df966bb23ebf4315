import QoSCore
import QoSEventLoop
import QoSKernel
import Synchronization

/// The pools of one scheduler, and what their workers share: admission, places, and how they call the loop.
///
/// Threading: any thread, except where a method says "the loop's thread".
// SAFETY: the tables are filled before the first thread starts and freed when the last reference is gone; the rest is atomic, locked or
// never changes.
@safe
final class PoolGroup: @unchecked Sendable {
    /// Tells the schedulers of a process apart, 1…63; 0 for one that came when all numbers were taken: its waiting tasks are
    /// raised a moment later.
    var number: Int { ownNumber.value }
    private let ownNumber = SchedulerNumber()

    /// The pools, by rank.
    let pools: UnsafeMutablePointer<ClassPool>

    /// As whose a job is run, by the executor's index.
    let executorTable: UnsafeMutablePointer<UnownedTaskExecutor>

    /// The thread that starts workers and looks at them.
    let loop: EventLoop
    let alarm: LoopAlarm

    /// Which class may have how many workers at work.
    let admission: Admission

    let settings: PoolSettings

    /// How many processors the process may use at a time; it follows affinity and quota. Written by the loop's thread.
    private let currentWidth: Atomic<Int>

    /// Which processors run whom.
    let places: WorkerPlaces

    /// By what workers call the loop.
    let calls: LoopCalls

    /// Threads that have been started and have not come to their end.
    let workersLeft = Atomic<Int>(0)

    /// Whether workers leave and submissions go elsewhere.
    let closedFlag = Atomic<Bool>(false)

    /// Whether the scheduler drains, or is closed: what declares something for a shutdown is treated as it declares, and the loop
    /// wants to hear of workers that park.
    let drainingFlag = Atomic<Bool>(false)

    /// Workers whose threads wait in the kernel with their job unfinished.
    let blocking = BlockingCounters()

    /// What was raised so far.
    let promotions = PromotionCounters()

    init(settings: PoolSettings, loop: EventLoop) {
        self.settings = settings
        self.loop = loop
        alarm = LoopAlarm(loop: loop)
        currentWidth = Atomic(settings.width)
        calls = LoopCalls(loop: loop)
        admission = Admission(processors: settings.width, parameters: settings.parameters)
        unsafe pools = .allocate(capacity: QoSClass.allCases.count)
        unsafe executorTable = .allocate(capacity: ExecutorIndex.count)
        unsafe places = WorkerPlaces(settings: settings, pools: pools, admission: admission)
        for qosClass in QoSClass.allCases {
            let pool = unsafe pools + qosClass.rank
            unsafe pool.initialize(
                to: ClassPool(
                    qosClass, width: settings.workers(of: qosClass, width: settings.width),
                    mostWide: settings.mostWide,
                    spin: PoolSettings.spin(of: qosClass), group: self, at: pool))
        }
        for (qosClass, count) in settings.ownWidths { admission.setOwnWidth(rank: qosClass.rank, to: count) }
        places.use(width: settings.width)
    }

    deinit {
        unsafe pools.deinitialize(count: QoSClass.allCases.count)
        unsafe pools.deallocate()
        unsafe executorTable.deallocate()
    }

    /// The processors of the scheduler whose worker the calling thread is; `nil` on another thread.
    static var processorsOfCallingWorker: CPUSet? {
        guard let worker = unsafe Worker.current else { return nil }
        let outer = unsafe worker.pointee.pool.pointee.group.places.processors.withLock { $0 }
        return outer.isEmpty ? nil : outer
    }

    var profile: KernelProfile? { settings.profile }

    @inline(__always)
    var width: Int { currentWidth.load(ordering: .relaxed) }

    func setWidth(_ width: Int) {
        currentWidth.store(width, ordering: .relaxed)
    }

    /// Tells the observer, if there is one.
    @inline(__always)
    func observe(_ event: @autoclosure () -> SchedulerEvent) {
        settings.observer?.observe(event())
    }

    // MARK: What workers say

    @inline(__always)
    var isClosed: Bool { closedFlag.load(ordering: .relaxed) }

    /// The same, for a thread that has made itself known to the closing one before.
    var isClosedForAll: Bool { closedFlag.load(ordering: .sequentiallyConsistent) }

    /// Whether work is treated as it declares for a shutdown.
    @inline(__always)
    var isEnding: Bool { drainingFlag.load(ordering: .sequentiallyConsistent) }

    /// Whether a processor has none of our workers: only then does a worker that spins take nothing from another.
    @inline(__always)
    var hasIdleCore: Bool { calls.awake.load(ordering: .relaxed) - blocking.now.load(ordering: .relaxed) <= width }

    /// A worker wakes up. Whoever wakes it, or itself.
    @inline(__always)
    func workerWakes() {
        calls.workerWakes(width: width)
    }

    func workerParks() {
        calls.workerParks()
        if isEnding { loop.wake() }
    }

    /// A worker's last act: what it still held goes where new submissions go.
    func workerExits(_ worker: UnsafeMutablePointer<Worker>) {
        unsafe forward(worker.pointee.queue.takeAll())
        unsafe forward(worker.pointee.pool.pointee.injection.takeAll())
        unsafe places.sleeps(rank: worker.pointee.pool.pointee.qosClass.rank, worker.pointee.index)
        unsafe worker.pointee.accountThread()
        unsafe worker.pointee.hasLeft.store(true, ordering: .releasing)
        calls.workerParks()
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
