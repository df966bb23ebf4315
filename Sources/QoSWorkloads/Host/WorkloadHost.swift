internal import QoSCore
internal import QoSKernel
public import QoSRuntime

/// Runs the items of a store: claims them, starts their workloads, renews their leases, and reports their ends.
///
/// ```swift
/// let host = try WorkloadHost(store: InMemoryWorkloadStore(), scheduler: scheduler, workloads: [Thumbnails()])
/// let item = try await host.submit(Thumbnails.self, .init(folder: "/srv/photos"))
/// try await host.run()
/// ```
///
/// Threading: any thread.
public final class WorkloadHost: Sendable {
    enum Phase: Sendable {
        case new
        case running
        case ending
        case ended
    }

    struct State: Sendable {
        var phase = Phase.new
        /// The error of the last pass; nil if it succeeded.
        var storeFailure: (any Error)?
        /// Whether the next pass looks at the leases: a process has ended, or the last look failed.
        var mustLookAtLeases = false
        /// Whether the end waits for no attempt.
        var endsAtOnce = false
        /// The attempts that have a place.
        var attempts: [WorkloadLease: Attempt] = [:]
        var solitude = Solitude()
        /// The ends that the store has not acknowledged.
        var ends: [PendingEnd] = []
        /// The number of attempts that were started and have not begun.
        var unbegunCount = 0
        /// The time of the first end that waits for them.
        var waitsSince: Duration?
        /// Whether a task looks after ``endWait`` whether ends still wait.
        var hasEndTimer = false
        /// The largest number of ends for the next call of the store.
        var endBatch = WorkloadHost.batchSize
    }

    /// The longest time for which an end waits for those of attempts that were started with it.
    static let endWait = Duration.milliseconds(1)

    /// The class of the host's own work: claims, timers, promotions.
    static let controlClass = QoSClass.userInitiated

    let store: any WorkloadStore
    let scheduler: any WorkloadScheduler
    let configuration: Configuration
    let runners: [WorkloadName: WorkloadRunner]
    let services: AttemptServices
    let judge: ConditionJudge
    let holders: any HolderProcesses
    let wakeSignal: WakeSignal
    let leaseKeeper: LeaseKeeper
    let state = Lock(State())

    /// Makes a host. It runs items during ``run()``.
    ///
    /// - Throws: ``WorkloadHostError`` if two workloads have the same name, or the configuration makes no sense.
    public convenience init(
        store: any WorkloadStore, scheduler: QoSScheduler, workloads: [any Workload],
        configuration: Configuration = Configuration()
    ) throws {
        var configuration = configuration
        if configuration.files == nil { configuration.files = SystemFileEvents(scheduler) }
        if configuration.holders == nil { configuration.holders = SystemHolderProcesses(scheduler) }
        try self.init(
            store: store, on: scheduler, workloads: workloads, configuration: configuration)
    }

    /// Makes a host on any scheduler, for example one with virtual time.
    ///
    /// - Throws: ``WorkloadHostError`` if two workloads have the same name, or the configuration makes no sense.
    public init(
        store: any WorkloadStore, on scheduler: any WorkloadScheduler, workloads: [any Workload],
        configuration: Configuration = Configuration()
    ) throws {
        if let problem = configuration.problem { throw WorkloadHostError.invalidConfiguration(problem) }
        var runners: [WorkloadName: WorkloadRunner] = [:]
        for workload in workloads {
            let runner = WorkloadRunner(workload)
            guard runners.updateValue(runner, forKey: runner.name) == nil else {
                throw WorkloadHostError.duplicateName(runner.name)
            }
        }
        self.store = store
        self.scheduler = scheduler
        self.configuration = configuration
        self.runners = runners
        services = AttemptServices(
            store: store, clock: configuration.clock, throttle: configuration.throttle,
            observe: configuration.observer)
        judge = ConditionJudge(configuration.conditions, configuration.clock)
        holders = configuration.holders ?? SystemHolderProcesses(nil)
        wakeSignal = WakeSignal(configuration.clock, scheduler, at: Self.controlClass)
        leaseKeeper = LeaseKeeper(configuration, services, scheduler)
    }

    /// Runs items until the task is cancelled or ``stop()`` is called.
    ///
    /// At the end, the host asks its attempts to stop, waits for them for ``Configuration/endGrace``, and gives their
    /// leases back. Their items continue from their checkpoints, at this or another host. If the store fails, the host
    /// asks it again within the grace; the leases then run out by themselves. A cancellation while the host
    /// ends already does the same as ``stopAtOnce()``.
    ///
    /// - Throws: ``WorkloadHostError/alreadyRun``.
    public func run() async throws {
        let begins = state.withLock { state in
            guard state.phase == .new else { return false }
            state.phase = .running
            return true
        }
        guard begins else { throw WorkloadHostError.alreadyRun }
        let control = scheduler.startWorkload(at: Self.controlClass, name: "workload-host") { await self.control() }
        await withTaskCancellationHandler {
            await control.value
        } onCancel: {
            if state.withLock({ $0.phase == .ending }) { stopAtOnce() } else { stop() }
        }
    }

    /// Ends ``run()``, which returns when the attempts have stopped.
    public func stop() {
        state.withLock { state in
            if state.phase == .running { state.phase = .ending }
        }
        wakeSignal.wake()
    }

    /// Ends ``run()`` without waiting for attempts: cancels them, and gives their leases back.
    public func stopAtOnce() {
        state.withLock { state in
            if state.phase == .running { state.phase = .ending }
            state.endsAtOnce = true
        }
        wakeSignal.wake()
    }

    /// The number of attempts that run.
    public var runningCount: Int { state.withLock { $0.attempts.count } }

    /// The error of the host's last look at its store; `nil` after one that succeeded, and before the first.
    ///
    /// The host looks again after a while, 5 seconds at most.
    public var storeFailure: (any Error)? { state.withLock { $0.storeFailure } }

    var clock: any WorkloadClock { configuration.clock }

    var attempts: [Attempt] {
        state.withLock { Array($0.attempts.values) }.sorted { $0.lease.item < $1.lease.item }
    }
}
