import QoSCore
import QoSKernel
import QoSKernelTestSupport
import QoSRuntimeTestSupport
import Synchronization
import Testing

@testable import QoSRuntime

@Suite("Checkpoints", .timeLimit(.minutes(5)))
struct CheckpointTests {
    typealias Rights = SimulatedSchedulingCalls.Rights

    private func configuration(_ rights: Rights?) -> QoSScheduler.Configuration {
        var configuration = QoSScheduler.Configuration(
            processors: 2, workers: [.background: 1], appliesKernelEffects: rights != nil, detectsBlocking: false)
        configuration.schedulingCalls = rights.map { SimulatedSchedulingCalls(rights: $0) }
        return configuration
    }

    /// Comes back when a worker of a class waits at a checkpoint.
    private func waits(_ qosClass: QoSClass, _ scheduler: QoSScheduler) async {
        while !scheduler.core.group.pools[qosClass.rank].hasWaiting { await Task.yield() }
    }

    @Test(
        "I4 a job that waits at a checkpoint of a paused class goes on when a higher task awaits it; the class is counted as before",
        arguments: [.all, .none, .limit(20)] as [Rights])
    func promoted(_ rights: Rights) async throws {
        try await withScheduler(configuration(rights)) { scheduler in
            let (begun, isOver) = (Gate(), Gate())
            let first = Task.detached(executorPreference: scheduler.executor(for: .background)) {
                begun.open()
                while !isOver.isOpen { Self.checkpoint() }
                return CurrentThread.qosClass
            }
            await begun.passed()
            scheduler.setWidthLimit(0, for: .background)
            await waits(.background, scheduler)
            let second = Task.detached(executorPreference: scheduler.executor(for: .background)) { true }
            let high = Task.detached(executorPreference: scheduler.executor(for: .userInitiated), priority: .high) {
                await first.value
            }
            while scheduler.snapshot.runningPromoted == 0 { await Task.yield() }
            isOver.open()
            #expect(await high.value == .background)
            scheduler.setWidthLimit(nil, for: .background)
            #expect(await second.escaped)
            await scheduler.countsNoWorker()
        }
    }

    @Test(
        "an admission for a worker that has not yet published its wait is given back, and not asked for again and again"
    )
    func aboutToWait() async throws {
        try await withScheduler(configuration(nil)) { scheduler in
            let group = scheduler.core.group
            let (isRunning, isOver) = (Gate(), Gate())
            // Keeps the only worker, so that none can be woken.
            let task = Task.detached(executorPreference: scheduler.executor(for: .background)) {
                isRunning.open()
                while !isOver.isOpen {}
            }
            await isRunning.passed()
            let pool = group.pools.at(QoSClass.background.rank)
            // As at a checkpoint: admission does not count the worker, and its wait is not yet published.
            _ = group.admission.workerBlocked(rank: QoSClass.background.rank)
            pool.value.waiting.wrappingAdd(1, ordering: .sequentiallyConsistent)
            group.workArrived(rank: QoSClass.background.rank)
            pool.value.waiting.wrappingSubtract(1, ordering: .sequentiallyConsistent)
            _ = group.admission.workerUnblocked(rank: QoSClass.background.rank)
            isOver.open()
            await task.value
            await scheduler.countsNoWorker()
        }
    }

    @Test(
        "I2 a holder that waits at a checkpoint goes on when a higher thread waits for its lock",
        arguments: [.all, .none] as [Rights])
    func promotedForLock(_ rights: Rights) async throws {
        try await withScheduler(configuration(rights)) { scheduler in
            let lock = SharedMutex()
            let (isHeld, isOver) = (Gate(), Gate())
            let low = Task.detached(executorPreference: scheduler.executor(for: .background)) {
                lock.mutex.withLock { _ in
                    isHeld.open()
                    while !isOver.isOpen { Self.checkpoint() }
                }
            }
            await isHeld.passed()
            scheduler.setWidthLimit(0, for: .background)
            await waits(.background, scheduler)
            let high = Task.detached(executorPreference: scheduler.executor(for: .userInitiated)) {
                lock.mutex.withLock { $0 += 1 }
            }
            while scheduler.snapshot.runningPromoted == 0 { await Task.yield() }
            isOver.open()
            await high.escaped
            scheduler.setWidthLimit(nil, for: .background)
            await low.escaped
            await scheduler.countsNoWorker()
        }
    }

    @Test(
        "I2 a task that runs the closure of a once and waits at a checkpoint goes on when a higher thread waits for it",
        arguments: [.all, .none] as [Rights])
    func promotedForOnce(_ rights: Rights) async throws {
        try await withScheduler(configuration(rights)) { scheduler in
            let once = Once()
            let (begun, isOver) = (Gate(), Gate())
            let low = Task.detached(executorPreference: scheduler.executor(for: .background)) {
                try? once.run {
                    begun.open()
                    while !isOver.isOpen { Self.checkpoint() }
                }
            }
            await begun.passed()
            scheduler.setWidthLimit(0, for: .background)
            await waits(.background, scheduler)
            let high = Task.detached(executorPreference: scheduler.executor(for: .userInitiated)) {
                try? once.run {}
            }
            while scheduler.snapshot.runningPromoted == 0 { await Task.yield() }
            isOver.open()
            await high.escaped
            scheduler.setWidthLimit(nil, for: .background)
            await low.escaped
            await scheduler.countsNoWorker()
        }
    }

    @Test("a promoted worker that is taken for blocked before it wakes from its checkpoint is counted once")
    func blockedBeforeWaking() async throws {
        try await withScheduler(configuration(nil)) { scheduler in
            let core = scheduler.core
            let (begun, isOver) = (Gate(), Gate())
            let task = Task.detached(executorPreference: scheduler.executor(for: .background)) {
                begun.open()
                while !isOver.isOpen { Self.checkpoint() }
            }
            await begun.passed()
            scheduler.setWidthLimit(0, for: .background)
            await waits(.background, scheduler)
            // What a promotion does, and the loop's look before the worker has woken.
            let worker = core.group.pools[0].workers.at(0)
            #expect(Worker.endWaiting(worker))
            _ = core.group.admission.workerUnblocked(rank: 0)
            let isCounted = worker.value.boost.withLock { _ in worker.value.change(.leavesCheckpoint) }
            #expect(isCounted)
            let step = worker.value.jobSteps
            #expect(core.group.workerBlocked(worker, .detected, step: step))
            isOver.open()
            core.group.workerWakes()
            worker.value.parker.unpark()
            await task.escaped
            scheduler.setWidthLimit(nil, for: .background)
            await scheduler.countsNoWorker()
            while core.group.pools[0].blocked.load(ordering: .relaxed) != 0 { await Task.yield() }
        }
    }

    @Test("a job that waits at a checkpoint comes to its end when the scheduler is shut down")
    func shutdown() async throws {
        let scheduler = try QoSScheduler(configuration: DeniedCalls.applied(to: configuration(nil)))
        let (begun, ended) = (Gate(), Gate())
        Task.detached(executorPreference: scheduler.executor(for: .utility)) {
            begun.open()
            while !scheduler.core.group.isEnding { Self.checkpoint() }
            Self.checkpoint()
            ended.open()
        }
        await begun.passed()
        scheduler.setWidthLimit(0, for: .utility)
        await waits(.utility, scheduler)
        #expect(try await scheduler.shutdown(within: .seconds(60)).isClean)
        await ended.passed()
    }

    // MARK: Turns

    /// The kind of turn that other work may wait for.
    enum Turn: CaseIterable {
        case actor, actorOnSerialExecutor, serialQueue, targetOfSerialQueue, synchronousItem
    }

    @Test("a call of an actor, or an item of a serial queue, does not wait at a checkpoint", arguments: Turn.allCases)
    func returnsAtOnce(_ turn: Turn) async throws {
        try await withScheduler(configuration(nil)) { scheduler in
            let (begun, isPaused, ended) = (Gate(), Gate(), Gate())
            let body: @Sendable () -> Void = {
                begun.open()
                isPaused.blockThread()
                Self.checkpoint()
                ended.open()
            }
            let serial = scheduler.makeQueue("serial", level: QoSLevel(.utility))
            let executor = scheduler.executor(for: .utility)
            switch turn {
            case .actor:
                let actor = Plain()
                Task.detached(executorPreference: executor) { await actor.run(body) }
            case .actorOnSerialExecutor:
                let actor = Served(scheduler.makeSerialExecutor())
                Task.detached(executorPreference: executor, priority: .low) { await actor.run(body) }
            case .serialQueue:
                serial.async(body)
            case .targetOfSerialQueue:
                let concurrent = scheduler.makeQueue("concurrent", .concurrent, level: QoSLevel(.utility))
                try concurrent.setTarget(serial)
                concurrent.async(body)
            case .synchronousItem:
                Task.detached(executorPreference: executor) { try Self.run(on: serial, body) }
            }
            await begun.passed()
            scheduler.setWidthLimit(0, for: .utility)
            isPaused.open()
            // Bounded by the suite's time limit.
            await ended.passed()
            scheduler.setWidthLimit(nil, for: .utility)
        }
    }

    private actor Plain {
        func run(_ body: () -> Void) { body() }
    }

    private actor Served {
        private let executor: QoSSerialExecutor
        nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

        init(_ executor: QoSSerialExecutor) { self.executor = executor }

        func run(_ body: () -> Void) { body() }
    }

    private static func run(on queue: WorkQueue, _ body: @Sendable () -> Void) throws { try queue.sync(body) }

    private static func checkpoint() { QoS.checkpoint() }
    private static func block() { QoS.withBlocking {} }

    // MARK: Many

    @Test(
        "short items with checkpoints and declared blocking all come to their end, while limits are set and lifted",
        .tags(.stress), arguments: [nil, Rights.all, Rights.none], [false, true])
    func rounds(_ rights: Rights?, _ setsLimits: Bool) async throws {
        try await withScheduler(configuration(rights)) { scheduler in
            let queue = scheduler.makeQueue("items", .concurrent, level: QoSLevel(.utility))
            for round in 0..<150 {
                let (ended, areAll) = (Tally(), Gate())
                for number in 0..<24 {
                    queue.async {
                        for _ in 0..<20 {
                            if number % 3 == 0 { Self.checkpoint() } else if number % 3 == 1 { Self.block() }
                        }
                        if ended.add() == 24 { areAll.open() }
                    }
                }
                if setsLimits {
                    scheduler.setWidthLimit(round % 2, for: .utility)
                    scheduler.setWidthLimit(nil, for: .utility)
                }
                await areAll.passed()
            }
            await scheduler.countsNoWorker()
        }
    }
}
