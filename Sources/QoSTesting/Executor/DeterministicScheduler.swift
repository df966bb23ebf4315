public import QoSCore
internal import QoSKernel
internal import QoSRuntime
internal import Synchronization

/// A scheduler that runs Swift tasks in virtual time on the thread of a test: one at a time, and the same way each
/// time.
///
/// The values that decide in the real scheduler choose the next job: admission by class, worst-case waits, timer
/// windows. Time passes only in ``work(for:isolation:)`` and in sleeps.
///
/// ```swift
/// let scheduler = DeterministicScheduler(cores: 1)
/// scheduler.startDetachedTask(at: .background, label: "b") { await scheduler.work(for: .milliseconds(4)) }
/// try scheduler.advance(by: .milliseconds(2))
/// scheduler.startDetachedTask(at: .userInteractive, label: "a") { await scheduler.work(for: .milliseconds(2)) }
/// try scheduler.runUntilIdle()
/// try scheduler.timeline().require("""
///     ui: --aa
///     bg: bb..bb
///     """)
/// ```
///
/// `Task.sleep` on the scheduler's executors takes virtual time, too. But the library reads a real clock for it, so the
/// delay is rounded up to whole milliseconds. Sleep on ``clock`` if the exact time matters.
///
/// A job of a task runs up to its next suspension as one step. The scheduler does not wait for work outside of it
/// (another executor, the main actor).
///
/// A plain `Task { }` has no executor, so it would run elsewhere. A run then throws
/// ``DeterministicSchedulerError/jobLeft(_:at:)``, which names the task. For code that is not written for executors, make
/// the scheduler with ``Reach/everything``.
///
/// Threading: submissions from any thread; one thread at a time runs the scheduler.
public final class DeterministicScheduler: Sendable {
    /// The order of jobs that could run at the same time.
    public enum Order: Sendable, Hashable {
        /// The higher class first, inside a class in the order of arrival.
        case arrival
        /// At random inside a class, and at random among the workers of all cores. The same seed gives the same order.
        case shuffled(seed: UInt64)

        var isShuffled: Bool { self != .arrival }

        var seed: UInt64 {
            switch self {
            case .arrival: 0
            case .shuffled(let seed): seed
            }
        }
    }

    /// The jobs that a scheduler takes.
    public enum Reach: Sendable, Hashable {
        /// Jobs for the scheduler's executors. If its code starts a task without an executor, the run fails.
        case executors
        /// Also all jobs that its code gives to the process's default executor: tasks without an executor, detached
        /// ones included, and their actors. For code that is not written for executors.
        ///
        /// Jobs that other threads submit stay where they are, except for tasks that the scheduler has taken before. So
        /// other tests may run at the same time. The main actor stays outside, and so does the timer of a `Task.sleep` in
        /// a task without an executor: the concurrency library reports neither. ``run(at:label:_:)`` waits for them in
        /// real time, up to ten seconds for each.
        case everything
    }

    /// The numbers of a scheduler's actions.
    public struct Counters: Sendable, Hashable {
        /// The number of jobs that were taken from a queue and run.
        public internal(set) var jobsRun = 0
        /// The number of queued tasks that were moved to a higher class, because higher work waits for them.
        public internal(set) var tasksMoved = 0
        /// The number of running tasks that were raised for the same reason.
        public internal(set) var runningPromoted = 0
    }

    /// The clock that moves with the scheduler, for code that takes a clock.
    ///
    /// Only the scheduler's methods may move it.
    public let clock = VirtualClock()

    let state: Lock<VirtualCores>

    /// The order of the jobs of a class.
    let order: Order

    /// The jobs that the scheduler takes.
    let taking: Reach

    let departures = Lock(Departures())

    /// Wakes the driver for a job that another thread has added.
    let arrivals = Parker()

    @TaskLocal static var label: Character?

    /// Makes a scheduler at time zero.
    ///
    /// - Parameters:
    ///   - cores: The number of jobs that have a core at a time; at least 1.
    ///   - order: The order among jobs of a class.
    ///   - taking: The jobs that the scheduler takes.
    public init(cores: Int = 1, order: Order = .arrival, taking: Reach = .executors) {
        precondition(ConcurrencyRuntime.hasExpectedLayout, "the concurrency library's jobs are laid out differently")
        state = Lock(VirtualCores(cores: cores, order: order))
        self.order = order
        self.taking = taking
    }

    deinit {
        EnqueueWatch.leave(ObjectIdentifier(self))
    }

    /// The time.
    public var now: VirtualClock.Instant { clock.now }

    /// The actions so far.
    public var counters: Counters { state.withLock { $0.counters } }

    // MARK: Executors

    /// Returns an executor of one class, like `QoSScheduler.executor(for:)`.
    public func executor(for qosClass: QoSClass) -> any TaskExecutor {
        DeterministicExecutor(self, qosClass)
    }

    /// An executor that runs each job at the class of its priority, like `QoSScheduler.executor`.
    public var executor: any TaskExecutor { DeterministicExecutor(self, nil) }

    /// Makes a serial executor for an actor, or for several that exclude each other, like
    /// `QoSScheduler.makeSerialExecutor()`.
    public func makeSerialExecutor() -> DeterministicSerialExecutor {
        DeterministicSerialExecutor(self)
    }

    /// Starts a task of a class, on the executor of the class. Like `Task.init`, it takes the caller's task-local values.
    /// So an `#expect` in it belongs to the calling test.
    ///
    /// - Parameters:
    ///   - qosClass: The class.
    ///   - label: The mark of the task's ``work(for:isolation:)`` in timelines; without it, a digit shows the number of
    ///     jobs.
    ///   - operation: The body of the task. It runs when the scheduler runs.
    @discardableResult
    public func startTask<Success: Sendable>(
        at qosClass: QoSClass, label: Character? = nil, _ operation: @escaping @Sendable () async -> Success
    ) -> Task<Success, Never> {
        Task(executorPreference: executor(for: qosClass), priority: qosClass.taskPriority) {
            await Self.$label.withValue(label) { await operation() }
        }
    }

    /// Starts a task of a class, on the executor of the class. It inherits nothing from its creator: an `#expect` in it
    /// belongs to no test. ``startTask(at:label:_:)`` keeps the caller's task-local values.
    ///
    /// - Parameters:
    ///   - qosClass: The class.
    ///   - label: The mark of the task's ``work(for:isolation:)`` in timelines; without it, a digit shows the number of
    ///     jobs.
    ///   - operation: The body of the task. It runs when the scheduler runs.
    @discardableResult
    public func startDetachedTask<Success: Sendable>(
        at qosClass: QoSClass, label: Character? = nil, _ operation: @escaping @Sendable () async -> Success
    ) -> Task<Success, Never> {
        Task.detached(executorPreference: executor(for: qosClass), priority: qosClass.taskPriority) {
            await Self.$label.withValue(label) { await operation() }
        }
    }

    /// Takes CPU time: the calling task keeps its worker, and its core as long as no higher work needs the core.
    ///
    /// A caller outside of this scheduler sleeps instead. An actor's call keeps the actor if the actor has a
    /// ``DeterministicSerialExecutor``.
    ///
    /// - Parameters:
    ///   - duration: The CPU time; zero or less is no time.
    ///   - isolation: The actor of the caller, which resumes there.
    public func work(for duration: Duration, isolation: isolated (any Actor)? = #isolation) async {
        let nanoseconds = max(0, duration.schedulerNanoseconds)
        let label = Self.label
        await withCheckedContinuation(isolation: isolation) { continuation in
            let work = VirtualWorker.Work(continuation: continuation, remaining: nanoseconds, label: label)
            let isOurs = state.withLock { $0.driver == .current && $0.workBegan(work) }
            if !isOurs {
                let end = TimerWindow(deadline: now.advanced(by: duration).nanoseconds, tolerance: 0)
                clock.call(within: end) { continuation.resume() }
            }
        }
    }

    // MARK: Looking at it

    /// The timeline of the classes, with columns of some length. A letter is the label of the job that has a core, a
    /// digit the number of such jobs, `.` work without a core.
    public func timeline(column: Duration = .milliseconds(1)) -> Timeline {
        state.withLock { $0.recorder }.timeline(column: column.schedulerNanoseconds)
    }

    /// The timeline of the cores. A job without a label is shown by the rank of its class, 0…4.
    public func coreTimeline(column: Duration = .milliseconds(1)) -> Timeline {
        state.withLock { $0.coreRecorder }.timeline(column: column.schedulerNanoseconds)
    }

    func add(_ job: VirtualJob, _ qosClass: QoSClass) {
        let isFromDriver = state.withLock { state in
            state.added(job, qosClass)
            return state.driver == .current
        }
        if taking == .everything, !isFromDriver { arrivals.unpark() }
    }
}
