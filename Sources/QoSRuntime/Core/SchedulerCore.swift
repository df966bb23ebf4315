import QoSCore
import QoSEventLoop
import QoSKernel
import Synchronization

/// One scheduler: its pools, its loop, its timers and its end, as its executors and queues share them.
///
/// Threading: any thread, except where a method says "the loop's thread".
// SAFETY: `loopState` is touched on the loop's thread only, which `onLoop` checks; the rest is atomic, locked or never changes.
final class SchedulerCore: @unchecked Sendable {
    /// The pools, and what their workers share.
    let group: PoolGroup

    let loop: EventLoop
    let timers = TimerService()

    /// What is watched for work queues; ends with the loop.
    let sources = SourceRegistry()

    /// The work that a shutdown waits for because it said so.
    let shutdownHolds = ShutdownHolds()

    /// Who waits for the end.
    let shutdownRequests = Lock(ShutdownRequests())

    /// The threads, other than workers, that sleep until something of a work queue has ended.
    let sleepers = SleepingThreads()

    /// What each worker's thread was given by the kernel.
    let effects = Lock<[WorkerEffects]>([])

    /// How often a worker's thread could not be created.
    let startFailures = Atomic<UInt64>(0)

    private let loopState: LoopState

    /// What only the loop's thread touches.
    var onLoop: LoopState {
        assert(loop.isOnLoopThread, "only the loop's thread may touch this")
        return loopState
    }

    /// The core is retained by the loop's and the workers' threads while they run, so the loop refers back weakly.
    // SAFETY: set once before the loop runs; afterwards read on the loop's thread only, which retains the core.
    private final class Link: @unchecked Sendable {
        unowned(unsafe) var core: SchedulerCore?
    }

    init(settings: PoolSettings) throws(EventLoopError) {
        let link = Link()
        loop = try EventLoop(
            onWake: { unsafe link.core?.loopWoke() },
            onTimer: { unsafe link.core?.loopWoke() }
        )
        group = PoolGroup(settings: settings, loop: loop)
        loopState = LoopState(widthWithoutQuota: settings.widthWithoutQuota)
        unsafe link.core = self
    }

    /// Asks the loop's thread to bring the scheduler to its end.
    ///
    /// - Returns: the report when it has ended already; the continuation is then not kept.
    @discardableResult
    func requestShutdown(
        within grace: Duration, _ continuation: CheckedContinuation<ShutdownReport, Never>?
    ) -> ShutdownReport? {
        let deadline = MonotonicClock.nanoseconds().addingSaturating(grace.clampedNanoseconds)
        let report = shutdownRequests.withLock { $0.request(deadline: deadline, continuation) }
        if report == nil { loop.wake() }
        return report
    }
}
