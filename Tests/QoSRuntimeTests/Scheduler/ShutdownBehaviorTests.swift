import QoSCore
import QoSEventLoop
import QoSKernelTestSupport
import QoSRuntimeTestSupport
import QoSTesting
import Testing

@testable import QoSRuntime

/// Each row and column of the table in `Docs/Inside/Protocols/shutdown.md`.
@Suite("What work declares for a shutdown", .timeLimit(.minutes(5)))
struct ShutdownBehaviorTests {
    private func makeScheduler(_ workers: [QoSClass: Int] = [:]) throws -> QoSScheduler {
        try QoSScheduler(
            configuration: DeniedCalls.applied(
                to: .init(processors: 2, workers: workers, appliesKernelEffects: false, detectsBlocking: false)))
    }

    /// A job that keeps the one worker of the utility class until it is let go.
    private func hold(_ scheduler: QoSScheduler) async -> (task: Task<Void, Never>, release: Gate) {
        let (begun, release) = (Gate(), Gate())
        let task = Task.detached(executorPreference: scheduler.executor(for: .utility)) {
            begun.open()
            release.blockThread()
        }
        await begun.passed()
        return (task, release)
    }

    private func ending(_ scheduler: QoSScheduler) async {
        while !scheduler.core.group.isEnding { await Task.yield() }
    }

    /// So many jobs of a class have begun and ended, taken together: what ran is suspended. (A yield need not suspend:
    /// the job that resumes may have run on another worker before.)
    private func progress(_ steps: UInt64, _ scheduler: QoSScheduler, of qosClass: QoSClass = .utility) async {
        while scheduler.core.group.pools[qosClass.rank].progress < steps { await Task.yield() }
    }

    /// The loop has looked whether it may close the scheduler, some times.
    private func loopLooks(_ scheduler: QoSScheduler) async throws {
        for _ in 0..<10 {
            scheduler.core.loop.wake()
            let looked = Gate()
            try scheduler.core.loop.submit { looked.open() }
            await looked.passed()
        }
    }

    // MARK: Finish, of a high record

    @Test("finish: a running task whose record was high from the start is raised as well", .needsKnownLayout)
    func finishHidden() async throws {
        var configuration = QoSScheduler.Configuration(processors: 2, detectsBlocking: false)
        configuration.schedulingCalls = SimulatedSchedulingCalls(rights: .all)
        let scheduler = try QoSScheduler(configuration: configuration)
        let begun = Gate()
        let task = Task.detached(
            executorPreference: scheduler.executor(for: .background, onShutdown: .finish), priority: .userInitiated
        ) {
            begun.open()
            while Worker.current?.value.boost.withLock({ $0.qosClass }) != .userInitiated {}
        }
        await begun.passed()
        let report = try await scheduler.shutdown(within: .seconds(600))
        #expect(report.isClean)
        await task.value
    }

    // MARK: Skip

    @Test("skip: a task that waits is cancelled, and run so that it sees it, and nobody who awaits it hangs")
    func skipWaitingTask() async throws {
        let scheduler = try makeScheduler([.utility: 1])
        let held = await hold(scheduler)
        let task = Task.detached(executorPreference: scheduler.executor(for: .utility, onShutdown: .skip)) {
            (Task.isCancelled, CurrentThread.qosClass)
        }
        async let report = scheduler.shutdown(within: .seconds(600))
        await ending(scheduler)
        held.release.open()
        let (isCancelled, ranAt) = await task.escaped
        #expect(isCancelled)
        #expect(ranAt == .utility)
        let isClean = try await report.isClean
        #expect(isClean)
    }

    @Test("skip: a task that runs is waited for, and is cancelled only when it would go on after a suspension")
    func skipRunningTask() async throws {
        let scheduler = try makeScheduler([.utility: 2])
        // Else there would be nothing to wait for while the task is suspended.
        let held = await hold(scheduler)
        let (begun, release, goOn) = (Gate(), Gate(), Gate())
        let task = Task.detached(executorPreference: scheduler.executor(for: .utility, onShutdown: .skip)) {
            begun.open()
            release.blockThread()
            let running = Task.isCancelled
            await goOn.passed()
            return (running, Task.isCancelled, CurrentThread.qosClass)
        }
        await begun.passed()
        async let report = scheduler.shutdown(within: .seconds(600))
        await ending(scheduler)
        try await loopLooks(scheduler)
        #expect(!scheduler.core.group.isClosed)
        release.open()
        await progress(3, scheduler)
        goOn.open()
        let (running, resumed, ranAt) = await task.value
        held.release.open()
        #expect(!running)
        #expect(resumed)
        #expect(ranAt == .utility)
        let isClean = try await report.isClean
        #expect(isClean)
    }

    @Test("skip: before a shutdown it means nothing")
    func skipWithoutShutdown() async throws {
        let scheduler = try makeScheduler()
        let isCancelled = await Task.detached(executorPreference: scheduler.executor(onShutdown: .skip)) {
            await Task.yield()
            return Task.isCancelled
        }.value
        #expect(!isCancelled)
        let ran = Gate()
        scheduler.makeQueue("queue").async(flags: .onShutdown(.skip)) { ran.open() }
        await ran.passed()
        try await scheduler.shutdown(within: .seconds(600))
    }

    @Test(
        "skip: items that wait are passed over: waits end, notifications come, groups are left; the others are run",
        arguments: [WorkQueue.Kind.serial, .concurrent], [false, true])
    func skipItems(_ kind: WorkQueue.Kind, _ targetsOther: Bool) async throws {
        let scheduler = try makeScheduler([.utility: 1])
        let held = await hold(scheduler)
        let target = scheduler.makeQueue("target", .concurrent, level: .utility)
        let queue =
            targetsOther
            ? try scheduler.makeQueue("queue", kind, level: .utility, target: target)
            : scheduler.makeQueue("queue", kind, level: .utility)
        let (ran, skipped, notified) = (Tally(), Tally(), Gate())
        let group = WorkGroup()
        let item = WorkItem(flags: .onShutdown(.skip)) { skipped.add() }
        item.notify(on: queue) { notified.open() }
        try queue.async(item)
        queue.async(flags: .onShutdown(.skip)) { skipped.add() }
        queue.async(in: group, flags: .onShutdown(.skip)) { skipped.add() }
        queue.async { ran.add() }
        let awaited = Task.detached(priority: .utility) {
            try await queue.run(flags: .onShutdown(.skip)) { skipped.add() }
        }
        async let report = scheduler.shutdown(within: .seconds(600))
        await ending(scheduler)
        held.release.open()
        await item.waitUntilFinished()
        await group.waitUntilFinished()
        await notified.passed()
        await #expect(throws: CancellationError.self) { try await awaited.value }
        let isClean = try await report.isClean
        #expect(isClean)
        #expect(item.isCancelled)
        #expect((ran.value, skipped.value) == (1, 0))
    }

    @Test("skip: an item whose delay is not over is passed over at the closing, and its wait ends then")
    func skipDelayed() async throws {
        let scheduler = try makeScheduler()
        let ran = Tally()
        let item = WorkItem(flags: .onShutdown(.skip)) { ran.add() }
        try scheduler.makeQueue("queue").async(after: .seconds(3_600), item)
        let report = try await scheduler.shutdown(within: .seconds(600))
        #expect(report.isClean)
        await item.waitUntilFinished()
        #expect(ran.value == 0)
    }

    // MARK: Block

    @Test("block: a background task that waits is run at userInitiated")
    func blockWaitingTask() async throws {
        let scheduler = try makeScheduler([.utility: 1])
        let held = await hold(scheduler)
        let task = Task.detached(executorPreference: scheduler.executor(for: .utility, onShutdown: .finish)) {
            CurrentThread.qosClass
        }
        async let report = scheduler.shutdown(within: .seconds(600))
        // The only worker of its own class is still busy.
        let ranAt = await task.escaped
        #expect(ranAt == .userInitiated)
        held.release.open()
        let isClean = try await report.isClean
        #expect(isClean)
    }

    @Test("block: a background task that runs is raised")
    func blockRunningTask() async throws {
        let scheduler = try makeScheduler()
        let (begun, isOver) = (Gate(), Gate())
        let task = Task.detached(
            executorPreference: scheduler.executor(for: .background, onShutdown: .finish), priority: .background
        ) {
            begun.open()
            while !isOver.isOpen {}
            return QoS.currentLevel?.qosClass
        }
        await begun.passed()
        async let report = scheduler.shutdown(within: .seconds(600))
        while scheduler.snapshot.runningPromoted == 0 { await Task.yield() }
        isOver.open()
        #expect(await task.escaped == .userInitiated)
        let isClean = try await report.isClean
        #expect(isClean)
    }

    @Test("block: an operation that is suspended is waited for, and goes on in its pools")
    func blockSuspended() async throws {
        let scheduler = try makeScheduler()
        let (begun, goOn) = (Gate(), Gate())
        let task = Task.detached(priority: .background) {
            await scheduler.withQoS(.background, onShutdown: .finish) {
                begun.open()
                await goOn.passed()
                return CurrentThread.qosClass
            }
        }
        await begun.passed()
        // Otherwise it may find the gate open, and goes on where it is.
        await progress(2, scheduler, of: .background)
        async let report = scheduler.shutdown(within: .seconds(600))
        await ending(scheduler)
        try await loopLooks(scheduler)
        #expect(!scheduler.core.group.isClosed)
        goOn.open()
        #expect(await task.escaped == .userInitiated)
        let isClean = try await report.isClean
        #expect(isClean)
    }

    @Test("block: items are waited for and raised, with what stands before them")
    func blockItems() async throws {
        let scheduler = try makeScheduler([.background: 1])
        let queue = scheduler.makeQueue("queue", level: .background)
        let (begun, release) = (Gate(), Gate())
        let first = WorkItem {
            begun.open()
            release.blockThread()
        }
        let second = WorkItem(flags: .onShutdown(.finish)) {}
        try queue.async(first)
        await begun.passed()
        try queue.async(second)
        #expect(second.effectiveLevel == .background)
        async let report = scheduler.shutdown(within: .seconds(600))
        while second.effectiveLevel != .userInitiated || first.effectiveLevel != .userInitiated { await Task.yield() }
        try await loopLooks(scheduler)
        #expect(!scheduler.core.group.isClosed)
        release.open()
        await second.waitUntilFinished()
        let isClean = try await report.isClean
        #expect(isClean)
        #expect(scheduler.core.shutdownHolds.isEmpty)
    }

    @Test("block: no longer than the grace lasts")
    func blockWithoutEnd() async throws {
        let scheduler = try makeScheduler()
        let (begun, goOn) = (Gate(), Gate())
        let task = Task.detached {
            await scheduler.withQoS(.utility, onShutdown: .finish) {
                begun.open()
                await goOn.passed()
                return CurrentThread.qosClass
            }
        }
        await begun.passed()
        let report = try await scheduler.shutdown(within: .milliseconds(1))
        #expect(report.isClean)
        goOn.open()
        #expect(await task.value == nil)
    }

    // MARK: Continue

    @Test("continue: a task that runs is not waited for; its worker is named, and what comes after goes on elsewhere")
    func continueRunningTask() async throws {
        let scheduler = try makeScheduler()
        let (begun, release, goOn) = (Gate(), Gate(), Gate())
        let name = Collected<String>()
        let task = Task.detached(executorPreference: scheduler.executor(for: .utility, onShutdown: .continue)) {
            name.append(CurrentThread.name)
            begun.open()
            release.blockThread()
            await goOn.passed()
            return CurrentThread.qosClass
        }
        await begun.passed()
        let report = try await scheduler.shutdown(within: .seconds(600))
        #expect(report.isClean)
        #expect(report.continuingWorkers == name.all)
        release.open()
        await progress(2, scheduler)
        goOn.open()
        #expect(await task.value == nil)
    }

    @Test("continue: a task that waits goes on elsewhere at once, others of its class are waited for")
    func continueWaitingTask() async throws {
        let scheduler = try makeScheduler([.utility: 1])
        let held = await hold(scheduler)
        let task = Task.detached(executorPreference: scheduler.executor(for: .utility, onShutdown: .continue)) {
            CurrentThread.qosClass
        }
        let other = Task.detached(executorPreference: scheduler.executor(for: .utility)) { CurrentThread.qosClass }
        async let report = scheduler.shutdown(within: .seconds(600))
        #expect(await task.escaped == nil)
        held.release.open()
        #expect(await other.escaped == .utility)
        let isClean = try await report.isClean
        #expect(isClean)
    }

    @Test("continue: an item that runs is not waited for, one that waits in a pool goes on elsewhere")
    func continueItems() async throws {
        let scheduler = try makeScheduler([.utility: 1])
        let queue = scheduler.makeQueue("queue", .concurrent, level: .utility)
        let (begun, release, second) = (Gate(), Gate(), Gate())
        queue.async(flags: .onShutdown(.continue)) {
            begun.open()
            release.blockThread()
        }
        await begun.passed()
        queue.async(flags: .onShutdown(.continue)) { second.open() }
        let report = try await scheduler.shutdown(within: .seconds(600))
        await second.passed()
        #expect(report.isClean)
        #expect(report.continuingWorkers == ["qos-ut-0"])
        release.open()
    }

    // MARK: While it goes on

    @Test("what is enqueued while the scheduler drains is treated as it declares")
    func enqueuedWhileDraining() async throws {
        let scheduler = try makeScheduler()
        let (begun, goOn) = (Gate(), Gate())
        let blocking = Task.detached {
            await scheduler.withQoS(.utility, onShutdown: .finish) {
                begun.open()
                await goOn.passed()
            }
        }
        await begun.passed()
        async let report = scheduler.shutdown(within: .seconds(600))
        await ending(scheduler)
        func run(_ executor: any TaskExecutor) async -> (Bool, QoSClass?) {
            await Task.detached(executorPreference: executor) { (Task.isCancelled, CurrentThread.qosClass) }.escaped
        }
        #expect(await run(scheduler.executor(for: .utility)) == (false, .utility))
        #expect(await run(scheduler.executor(for: .utility, onShutdown: .finish)) == (false, .userInitiated))
        #expect(await run(scheduler.executor(for: .utility, onShutdown: .skip)) == (true, .utility))
        #expect(await run(scheduler.executor(for: .utility, onShutdown: .continue)) == (false, nil))
        goOn.open()
        await blocking.value
        let isClean = try await report.isClean
        #expect(isClean)
        #expect(await run(scheduler.executor(for: .utility, onShutdown: .skip)) == (true, nil))
        #expect(await run(scheduler.executor(for: .utility, onShutdown: .finish)) == (false, nil))
    }

    @Test("a class that was paused is let go, so that nothing waits for its work in vain")
    func pausedClass() async throws {
        let scheduler = try makeScheduler()
        scheduler.setWidthLimit(0, for: .background)
        let task = Task.detached(executorPreference: scheduler.executor(for: .background)) { CurrentThread.qosClass }
        let report = try await scheduler.shutdown(within: .seconds(600))
        #expect(report.isClean)
        #expect(await task.escaped == .background)
    }
}
