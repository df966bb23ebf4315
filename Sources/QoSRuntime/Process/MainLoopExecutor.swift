import QoSCore
import QoSEventLoop
import Synchronization

/// The main actor's executor: a libuv loop on the real main thread.
///
/// Jobs come in through a lock-free queue. One wake-up of the loop serves all of them. Among the waiting jobs, those of
/// a higher class go first.
///
/// Threading: any thread submits; ``run()`` belongs to the main thread.
// SAFETY: `waiting` belongs to the main thread; the rest is atomic or never changes.
final class MainLoopExecutor: SerialExecutor, @unchecked Sendable {
    /// The number of jobs between two looks at the loop's other events.
    private static let batch = 64

    let loop: EventLoop
    private let arrivals: Box
    private var waiting = LaneItems()

    /// The queue, apart from the executor, so that the loop's callback can be made before the executor exists.
    // SAFETY: `executor` is set once, before the loop runs; the queue is for any thread.
    private final class Box: @unchecked Sendable {
        let queue = InjectionQueue()
        unowned(unsafe) var executor: MainLoopExecutor?
    }

    init() throws(EventLoopError) {
        let box = Box()
        arrivals = box
        loop = try EventLoop(onWake: { unsafe box.executor?.runJobs() })
        unsafe box.executor = self
    }

    func enqueue(_ job: UnownedJob) {
        let node = JobNode(job)
        node.prepare(.job(executor: 0))
        arrivals.queue.push(node)
        loop.wake()
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
        for _ in 0..<Self.batch {
            waiting.append(contentsOf: arrivals.queue.takeAll())
            guard let node = waiting.popHighest() else { return }
            unsafe node.job.runSynchronously(on: asUnownedSerialExecutor())
        }
        loop.wake()
    }
}
