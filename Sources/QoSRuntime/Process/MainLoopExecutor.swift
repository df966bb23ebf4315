import CQoSShims
import QoSCore
import QoSEventLoop
import QoSKernel
import Synchronization

/// The main actor's executor: a libuv loop on the real main thread.
///
/// Jobs come in through a lock-free queue. One wake-up of the loop serves all of them. Among the waiting jobs, those of
/// a higher class go first. Before the main thread sleeps, it may look for the next job (``MainThreadLook``).
///
/// While blocks of `DispatchQueue.main` wait, a job goes behind them, in the order of submission (``DispatchMainQueue``).
///
/// Threading: any thread submits; ``run()`` belongs to the main thread.
// SAFETY: `waiting`, `look` and `nextRaise` belong to the main thread; the rest is atomic or never changes.
final class MainLoopExecutor: SerialExecutor, @unchecked Sendable {
    /// The number of jobs between two looks at the loop's other events.
    private static let batch = 64

    /// The time between two looks for raised calls, nanoseconds, and the number of calls of each class in one look.
    private static let raiseInterval: UInt64 = 1_000_000
    private static let raiseLimit = 256

    let loop: EventLoop
    private let arrivals: Box
    private var waiting = LaneItems()
    private var look = MainThreadLook()
    private var nextRaise: UInt64 = 0

    private let dispatchMain = DispatchMainQueue()

    /// The pools of the process. While their workers use all processors, the main thread does not look.
    private let group: PoolGroup

    /// The queue, apart from the executor, so that the loop's callback can be made before the executor exists.
    // SAFETY: `executor` is set once, before the loop runs; the queue is for any thread.
    private final class Box: @unchecked Sendable {
        let queue = InjectionQueue()

        /// Whether the main thread looks at the queue again before it sleeps, and need not be woken.
        let isServed = Atomic<Bool>(false)

        unowned(unsafe) var executor: MainLoopExecutor?
    }

    /// - Parameter group: the pools of the process.
    init(beside group: PoolGroup) throws(EventLoopError) {
        let box = Box()
        self.group = group
        arrivals = box
        loop = try EventLoop(onWake: { unsafe box.executor?.runJobs() })
        unsafe box.executor = self
    }

    func enqueue(_ job: UnownedJob) {
        let node = JobNode(job)
        node.prepare(.job(executor: 0))
        if dispatchMain.takesJobs {
            unsafe dispatchMain.add(node) { address in
                guard let main = ProcessExecutors.installed?.main else { return }
                unsafe JobNode(address: UInt(bitPattern: address)).job.runSynchronously(
                    on: main.asUnownedSerialExecutor())
            }
            return
        }
        arrivals.queue.push(node)
        // Sequentially consistent, as in `runJobs`: the main thread sees the job, or this thread wakes it.
        if !arrivals.isServed.load(ordering: .sequentiallyConsistent) { loop.wake() }
    }

    /// Serves `DispatchQueue.main`. Main thread, before the loop runs.
    func serveDispatch() throws(EventLoopError) {
        try dispatchMain.serve(on: loop) { [self] in
            // Jobs that come meanwhile go behind the blocks, so this ends.
            while dispatchMain.hasWaitingBlocks, runNext() {}
        }
    }

    /// Runs the next of the jobs that wait.
    ///
    /// - Returns: `false` without any.
    private func runNext() -> Bool {
        waiting.append(contentsOf: arrivals.queue.takeAll())
        guard let node = waiting.popHighest() else { return false }
        unsafe node.job.runSynchronously(on: asUnownedSerialExecutor())
        return true
    }

    /// Runs the loop until it is stopped.
    func runLoop() throws(EventLoopError) {
        try loop.run()
    }

    func checkIsolated() {
        precondition(loop.isOnLoopThread, "expected to be on the main actor, which is the main thread")
    }

    func isIsolatingCurrentContext() -> Bool? {
        loop.isOnLoopThread
    }

    private func runJobs() {
        arrivals.isServed.store(true, ordering: .sequentiallyConsistent)
        let mayHaveMore = runBatch()
        arrivals.isServed.store(false, ordering: .sequentiallyConsistent)
        if mayHaveMore || !arrivals.queue.isEmpty { loop.wake() }
    }

    /// Runs jobs until none comes, or the loop's other events have their turn.
    ///
    /// - Returns: whether jobs may be left.
    private func runBatch() -> Bool {
        var hasRun = false
        for _ in 0..<Self.batch {
            waiting.append(contentsOf: arrivals.queue.takeAll())
            raiseAwaited()
            guard let node = waiting.popHighest() ?? (hasRun ? nextArrival() : nil) else { return false }
            if !hasRun { look.jobsBegan(at: MonotonicClock.nanoseconds()) }
            hasRun = true
            unsafe node.job.runSynchronously(on: asUnownedSerialExecutor())
        }
        return true
    }

    /// Lets calls go first that were raised while they wait (rule I4), if it is time for a look.
    private func raiseAwaited() {
        guard waiting.highestRank != nil else { return }
        let now = MonotonicClock.nanoseconds()
        guard now >= nextRaise else { return }
        nextRaise = now &+ Self.raiseInterval
        if let raised = waiting.raiseEscalated(limit: Self.raiseLimit) { group.noteRaisedCalls(raised) }
    }

    /// Looks for the next job for a while, if that is worth it.
    private func nextArrival() -> JobNode? {
        guard let end = look.jobsEnded(at: MonotonicClock.nanoseconds()), group.hasCoreForAnother else { return nil }
        repeat {
            for _ in 0..<16 { cqos_spin_hint() }
            if !arrivals.queue.isEmpty {
                look.succeeded()
                waiting.append(contentsOf: arrivals.queue.takeAll())
                return waiting.popHighest()
            }
        } while MonotonicClock.nanoseconds() < end
        look.failed()
        return nil
    }
}
