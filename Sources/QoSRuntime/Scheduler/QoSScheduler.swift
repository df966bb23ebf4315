public import QoSCore
import QoSEventLoop
import QoSKernel
import Synchronization

/// Runs Swift tasks on a pool of worker threads per quality-of-service class.
///
/// Each class has its own workers. The kernel schedules them by the class's policy, nice value, slice and I/O priority
/// (rule C6). They are created when the class gets its first work. The scheduler's own event loop keeps the timers.
///
/// ```swift
/// let scheduler = try QoSScheduler()
/// let index = scheduler.startTask(at: .background) {
///     await rebuildIndex()
/// }
/// let answer = try await scheduler.withQoS(.userInitiated) {
///     try await search("swift")
/// }
/// try await scheduler.shutdown()
/// ```
///  Several schedulers can exist in one process. ``QoSProcess/run(configuration:_:)`` makes one the default executor of
/// the whole process.
///
/// Keep the scheduler for as long as its executors are used. When the last reference goes, it shuts down like
/// ``shutdown(within:)``, but no caller waits.
///
/// Threading: any thread.
public final class QoSScheduler: Sendable {
    let core: SchedulerCore

    /// Indexed by ``ExecutorIndex``.
    private let executors: [PoolExecutor]
    private let isProcessWide: Bool
    private let waitReports: InversionDetection.Token?

    /// Indexed by rank (rule B2).
    let globalQueues: [WorkQueue]

    /// Makes a scheduler and starts its event loop.
    ///
    /// Costs one thread and five descriptors. The pools cost nothing until they are used.
    ///
    /// - Throws: ``QoSRuntimeError`` when the configuration makes no sense, or when the system has no descriptor or
    ///   thread left.
    public convenience init(configuration: Configuration = Configuration()) throws(QoSRuntimeError) {
        try self.init(configuration: configuration, isProcessWide: false)
    }

    init(configuration: Configuration, isProcessWide: Bool) throws(QoSRuntimeError) {
        guard ConcurrencyRuntime.hasExpectedLayout else { throw .unsupportedConcurrencyLibrary }
        let settings = try configuration.settings()
        let core: SchedulerCore
        do throws(EventLoopError) {
            core = try SchedulerCore(settings: settings)
        } catch {
            throw .eventLoopUnavailable(error.description)
        }
        self.core = core
        self.isProcessWide = isProcessWide
        waitReports = configuration.observeWaits(of: core.group)
        executors = PoolExecutor.all(of: core)
        if isProcessWide { executors.forEach(ConcurrencyRuntime.makeImmortal) }
        globalQueues = QoSClass.allCases.map { WorkQueue(core: QueueCore(global: $0, of: core)) }
        PoolExecutor.register(executors, in: core.group)
        if core.group.number == 0 { core.group.reached(.schedulers) }
        if settings.detectsBlocking, ThreadClock.isAsleep(.current, root: settings.fileRoot) == nil {
            core.group.reached(.blockingDetection)
        }
        do throws(KernelError) {
            let thread = try Thread(name: "qos-loop") {
                LibraryThreads.setRule(.ownClean)
                core.applyEffects(of: .userInteractive, threadName: "qos-loop")
                core.runLoop()
            }
            thread.detach()
        } catch {
            throw .threadUnavailable(error.description)
        }
    }

    deinit {
        if let waitReports { InversionDetection.stop(waitReports) }
        core.requestShutdown(within: Self.defaultGrace, nil)
    }

    // MARK: Executors

    /// Returns the executor of one class.
    ///
    /// Give it to `Task(executorPreference:)`, `withTaskExecutorPreference` or
    /// `TaskGroup.addTask(executorPreference:)`. A task with this preference runs in the pool of the class, whatever
    /// its task priority. When work of a higher class waits for the task, the task's later submissions go to the pool
    /// of that class. Its sleeps use the scheduler's timers.
    public func executor(for qosClass: QoSClass) -> any TaskExecutor {
        poolExecutor(qosClass, nil)
    }

    /// Returns the executor of a level: that of its class, with an order by relative priority among the waiting jobs.
    ///
    /// A job of a lower relative priority waits, in a worker's queue, until no job of a higher one is left there. One
    /// job in 16 is an exception. A task that is raised to a higher class goes there without its relative priority.
    ///
    /// `executor(for: .utility)` means the class: the form of a class is preferred where both fit.
    @_disfavoredOverload
    public func executor(for level: QoSLevel) -> any TaskExecutor {
        executors[ExecutorIndex.index(of: level)]
    }

    /// The executor that runs each job in the pool of its task's priority (rule C4).
    ///
    /// A priority between those of two classes belongs to the lower class, and orders the jobs inside of it. A task of
    /// priority 19 runs as utility (17), and goes before the jobs that wait with 18 or 17 in the same worker's queue.
    /// One job in 16 is left to the class's own priority. Priorities more than 7 above it count as equal. The same
    /// holds for ``executor(for:)-(QoSClass)`` of the class to which the priority belongs.
    public var executor: any TaskExecutor { poolExecutor(nil, nil) }

    /// Returns the executor of a class, or the one that goes by priority. With a behavior it is for work that declares
    /// its treatment at a shutdown.
    func poolExecutor(_ qosClass: QoSClass?, _ behavior: ShutdownBehavior?) -> PoolExecutor {
        executors[ExecutorIndex.index(of: qosClass, behavior)]
    }

    /// Runs an operation at a class: the operation and its child tasks prefer the executor of that class.
    ///
    /// The caller's task runs the operation. When it has ended, the task is as before. Actors with executors of their
    /// own keep them. Within, ``QoS/currentLevel`` is the class, so the operation and its child tasks submit with it.
    /// Waiters for the task raise it.
    ///
    /// On an actor without an executor of its own, the actor's current thread may keep it while other calls are queued
    /// there. The operation then begins on that thread, and comes to the class at its first suspension.
    ///
    /// - Important: The closure has the caller's isolation. On the main actor, and so in top-level code, its own code
    ///   stays on the main thread, at that thread's level. What it awaits runs at the class: `@concurrent` functions and
    ///   child tasks. A task that it awaits is raised to the class. If the closure computes for longer than a job of the
    ///   class should, the observer gets `SchedulerEvent.jobStalled`. To compute in the pool, call a `@concurrent`
    ///   function, or start a task.
    public nonisolated(nonsending) func withQoS<Success, Failure: Error>(
        _ qosClass: QoSClass,
        operation: () async throws(Failure) -> Success
    ) async throws(Failure) -> Success {
        try await withPreference(of: poolExecutor(qosClass, nil), qosClass, operation: operation)
    }

    /// Runs an operation that prefers one of this scheduler's executors.
    nonisolated(nonsending) func withPreference<Success, Failure: Error>(
        of executor: PoolExecutor, _ qosClass: QoSClass,
        operation: () async throws(Failure) -> Success
    ) async throws(Failure) -> Success {
        let success: Success
        let actor = #isolation
        // Here, on the actor's thread: the closure below is on none, so it begins in the pool.
        let stay = ActorStay.begin(on: actor, at: qosClass, core)
        defer { stay?.end() }
        do throws(Failure) {
            success = try await withTaskExecutorPreference(executor) {
                () async throws(Failure) -> Success in
                await enterPool(with: actor)
                return try await LevelScope.$current.bound(to: LevelScope(of: qosClass), operation)
            }
        } catch {
            await leavePool(of: qosClass, with: actor)
            throw error
        }
        await leavePool(of: qosClass, with: actor)
        return success
    }

    // MARK: The end

    /// The default time that ``shutdown(within:)`` gives to running work.
    public static let defaultGrace: Duration = .seconds(5)

    /// Ends the scheduler: lets queued and running work come to an end, stops the threads, closes the loop.
    ///
    /// Work that has declared a `ShutdownBehavior` is treated accordingly. The following holds for all other work.
    ///  Work may submit more work until nothing is queued and nothing runs, or until the time is up. After that,
    /// workers leave at the end of their current job, for which they get two more seconds. Nothing is dropped: the
    /// process's default executor runs all queued, sleeping and later submitted work.
    ///  Several tasks may call it. A task on the scheduler may too: the call returns on the default executor.
    ///
    /// - Parameter grace: how long to wait for queued and running work; not negative.
    /// - Returns: whether every thread could be stopped.
    /// - Throws: ``QoSRuntimeError/processSchedulerCannotBeShutDown``.
    @discardableResult
    public func shutdown(
        within grace: Duration = QoSScheduler.defaultGrace
    ) async throws(QoSRuntimeError) -> ShutdownReport {
        guard !isProcessWide else { throw .processSchedulerCannotBeShutDown }
        return await withCheckedContinuation { continuation in
            if let report = core.requestShutdown(within: grace, continuation) { continuation.resume(returning: report) }
        }
    }
}

extension QoSScheduler.Configuration {
    /// Tells the observer, if there is one, of waits that cannot be resolved (rule I5), until the listener is taken
    /// back.
    ///
    /// Locks belong to the process: a wait on another scheduler's worker is reported to that scheduler's observer.
    fileprivate func observeWaits(of group: PoolGroup) -> InversionDetection.Token? {
        guard let observer else { return nil }
        let own = ObjectIdentifier(group)
        return InversionDetection.listen { report in
            if let worker = Worker.current, ObjectIdentifier(worker.group) != own {
                return
            }
            observer.observe(.inversion(report))
        }
    }
}
