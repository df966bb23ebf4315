public import QoSCore
import QoSEventLoop
import QoSKernel
import Synchronization

/// Runs Swift tasks on a pool of worker threads per quality-of-service class.
///
/// Each class has workers of its own, which the kernel schedules by the class's policy, nice value, slice and I/O priority
/// (rule C6); they are created when the class gets its first work. An event loop of the scheduler's own keeps the timers.
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
///
/// Several schedulers can live in one process. ``QoSProcess/run(configuration:_:)`` makes one the default executor of the
/// whole process.
///
/// Keep the scheduler for as long as its executors are used: when the last reference goes, it shuts down as by
/// ``shutdown(within:)``, with nobody waiting.
///
/// Threading: any thread.
public final class QoSScheduler: Sendable {
    let core: SchedulerCore

    /// By ``ExecutorIndex``.
    private let executors: [PoolExecutor]
    private let isProcessWide: Bool
    private let waitReports: InversionDetection.Token?

    /// By rank (rule B2).
    let globalQueues: [WorkQueue]

    /// Makes a scheduler and starts its event loop.
    ///
    /// Costs one thread and five descriptors; the pools cost nothing until they are used.
    ///
    /// - Throws: ``QoSRuntimeError`` when the configuration makes no sense, or when the system has no descriptor or
    ///   thread left.
    public convenience init(configuration: Configuration = Configuration()) throws {
        try self.init(configuration: configuration, isProcessWide: false)
    }

    init(configuration: Configuration, isProcessWide: Bool) throws {
        guard ConcurrencyRuntime.hasExpectedLayout else { throw QoSRuntimeError.unsupportedConcurrencyLibrary }
        let core = try SchedulerCore(settings: configuration.settings())
        self.core = core
        self.isProcessWide = isProcessWide
        waitReports = configuration.observeWaits(of: core.group)
        executors = PoolExecutor.all(of: core)
        if isProcessWide { executors.forEach(ConcurrencyRuntime.makeImmortal) }
        globalQueues = QoSClass.allCases.map { WorkQueue(core: QueueCore(global: $0, of: core)) }
        PoolExecutor.register(executors, in: core.group)
        do {
            let thread = try Thread(name: "qos-loop") {
                core.unbind()
                core.applyEffects(of: .userInteractive, threadName: "qos-loop")
                core.runLoop()
            }
            thread.detach()
        } catch {
            throw QoSRuntimeError.threadUnavailable("\(error)")
        }
    }

    deinit {
        if let waitReports { InversionDetection.stop(waitReports) }
        core.requestShutdown(within: Self.defaultGrace, nil)
    }

    // MARK: Executors

    /// The executor of one class.
    ///
    /// Give it to `Task(executorPreference:)`, `withTaskExecutorPreference` or `TaskGroup.addTask(executorPreference:)`.
    /// What runs with this preference runs in the pool of the class, whatever its task priority; when something of a
    /// higher class waits for such a task, what the task submits from then on goes to the pool of that class.
    /// Sleeps of such a task use the scheduler's timers.
    public func executor(for qosClass: QoSClass) -> any TaskExecutor {
        poolExecutor(qosClass, nil)
    }

    /// The executor of a level: that of its class, and among what waits there as its relative priority says.
    ///
    /// What has a lower relative priority waits, in a worker's queue, until nothing of a higher one is left there, but for one job in 16.
    /// A task that is raised to a higher class goes there without it.
    public func executor(at level: QoSLevel) -> any TaskExecutor {
        executors[ExecutorIndex.index(of: level)]
    }

    /// The executor that runs each job in the pool of its task's priority (rule C4).
    ///
    /// A priority between those of two classes belongs to the lower one, and orders inside of it: a task of priority 19 runs as
    /// utility (17) and goes before what waits there with 18 or 17 in the same worker's queue. One job in 16 is left to the class's own
    /// priority; more than 7 above it are not told apart. The same holds for ``executor(for:)`` of the class to which the priority belongs.
    public var executor: any TaskExecutor { poolExecutor(nil, nil) }

    /// The executor of a class, or the one that goes by priority, for work that declares something for a shutdown, or nothing.
    func poolExecutor(_ qosClass: QoSClass?, _ behavior: ShutdownBehavior?) -> PoolExecutor {
        executors[ExecutorIndex.index(of: qosClass, behavior)]
    }

    /// Runs an operation at a class: it and its child tasks prefer the executor of that class.
    ///
    /// The caller's task runs it; when it has ended, the task is as before. Actors with executors of their own keep them. Within,
    /// ``QoS/currentLevel`` is the class, so that is what the operation and its child tasks submit with; what waits for the task
    /// raises it.
    ///
    /// On an actor without an executor of its own, the thread that has the actor at the time may keep it while other calls stand in its
    /// queue. The operation then begins there and comes to the class when it is first suspended.
    public nonisolated(nonsending) func withQoS<Success, Failure: Error>(
        _ qosClass: QoSClass,
        operation: () async throws(Failure) -> Success
    ) async throws(Failure) -> Success {
        try await withPreference(of: poolExecutor(qosClass, nil), qosClass, operation: operation)
    }

    /// Runs an operation with the preference of one of this scheduler's executors.
    nonisolated(nonsending) func withPreference<Success, Failure: Error>(
        of executor: PoolExecutor, _ qosClass: QoSClass,
        operation: () async throws(Failure) -> Success
    ) async throws(Failure) -> Success {
        let success: Success
        let actor = #isolation
        do throws(Failure) {
            success = try await withTaskExecutorPreference(executor) {
                () async throws(Failure) -> Success in
                await enterPool(with: actor)
                return try await LevelScope.$current.bound(to: LevelScope(of: qosClass), operation)
            }
        } catch {
            await leavePool(of: qosClass)
            throw error
        }
        await leavePool(of: qosClass)
        return success
    }

    // MARK: The end

    /// How long ``shutdown(within:)`` lets work go on if nothing else is said.
    public static let defaultGrace: Duration = .seconds(5)

    /// Ends the scheduler: lets what is queued and running come to an end, stops the threads, closes the loop.
    ///
    /// Work that has declared a `ShutdownBehavior` is treated accordingly; the following holds for all other.
    ///
    /// Work may go on submitting work until nothing is queued and nothing runs, or until the time is up. After that,
    /// workers leave at the end of the job they run, for which they get two more seconds. Nothing is dropped: what is
    /// still queued, what sleeps, and what is submitted later is run by the process's default executor.
    ///
    /// May be called by several tasks, also by one that runs on the scheduler: it comes back on the default executor.
    ///
    /// - Parameter grace: how long to wait for queued and running work; not negative.
    /// - Returns: whether every thread could be stopped.
    /// - Throws: ``QoSRuntimeError/processSchedulerCannotBeShutDown``.
    @discardableResult
    public func shutdown(within grace: Duration = QoSScheduler.defaultGrace) async throws -> ShutdownReport {
        guard !isProcessWide else { throw QoSRuntimeError.processSchedulerCannotBeShutDown }
        return await withCheckedContinuation { continuation in
            if let report = core.requestShutdown(within: grace, continuation) { continuation.resume(returning: report) }
        }
    }
}

extension QoSScheduler.Configuration {
    /// Lets the observer, if there is one, be told of waits that nothing can be done about (rule I5), until the listener is taken back.
    ///
    /// Locks belong to the process: of a wait on another scheduler's worker that one's observer is told.
    fileprivate func observeWaits(of group: PoolGroup) -> InversionDetection.Token? {
        guard let observer else { return nil }
        let own = ObjectIdentifier(group)
        return InversionDetection.listen { report in
            if let worker = unsafe Worker.current, unsafe ObjectIdentifier(worker.pointee.pool.pointee.group) != own {
                return
            }
            observer.observe(.waiting(report))
        }
    }
}
