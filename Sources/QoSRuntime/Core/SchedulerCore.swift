import QoSCore
import QoSEventLoop
import QoSKernel
import Synchronization

/// One scheduler, which its executors and queues share: its pools, its loop, its timers and its end.
///
/// Threading: any thread, except where a method says "the loop's thread".
// SAFETY: `loopState` is used on the loop's thread only, which `onLoop` checks; the rest is atomic, locked or never
// changes.
final class SchedulerCore: @unchecked Sendable {
    /// The pools, and the state that their workers share.
    let group: PoolGroup

    let loop: EventLoop
    let timers: TimerService

    /// The event sources for work queues. They end with the loop.
    let sources = SourceRegistry()

    /// The limits that a monitor has set. They end with the beginning of the shutdown.
    let governed = ValueBroadcast(GovernorDecision())

    /// The work that asks a shutdown to wait for it.
    let shutdownHolds = ShutdownHolds()

    /// The callers that wait for the end.
    let shutdownRequests = Lock(ShutdownRequests())

    /// The threads, other than workers, that sleep until work of a work queue has ended.
    let sleepers = SleepingThreads()

    /// The kernel's grants to each worker's thread.
    let effects = Lock<[WorkerEffects]>([])

    /// The number of times that a worker's thread could not be created.
    let startFailures = Atomic<UInt64>(0)

    /// The states of the background activities, of each of their schedulers; `nil` for one that is gone.
    let activities = Lock<[@Sendable () -> [BackgroundActivityState]?]>([])

    private let loopState: LoopState

    /// The state that only the loop's thread uses.
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
        timers = TimerService(tally: group.timerTally)
        loopState = LoopState(topology: settings.topology)
        unsafe link.core = self
    }

    /// Asks the loop's thread to end the scheduler.
    ///
    /// - Returns: the report if the scheduler has already ended; the continuation is then not kept.
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
