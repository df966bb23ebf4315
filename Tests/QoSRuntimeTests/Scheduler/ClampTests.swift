import QoSCore
import QoSRuntimeTestSupport
import Testing

@testable import QoSRuntime

@Suite("A clamped scheduler", .timeLimit(.minutes(5)))
struct ClampTests {
    private actor Place {
        private let executor: QoSSerialExecutor
        nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

        init(_ executor: QoSSerialExecutor) {
            self.executor = executor
        }

        func ranAt() -> QoSClass? { CurrentThread.qosClass }

        /// Keeps the turn, and the worker, until a gate opens.
        func holds(_ begun: Gate, _ release: Gate) {
            begun.open()
            release.blockThread()
        }
    }

    /// Submits a task, an item of a serial queue and a call of an actor at a class.
    private static func submit(at qosClass: QoSClass, _ scheduler: QoSScheduler) -> [Task<QoSClass?, Never>] {
        let place = Place(scheduler.makeSerialExecutor())
        let (queue, ranAt, hasRun) = (scheduler.makeQueue("q"), Collected<QoSClass?>(), Gate())
        queue.async(level: QoSLevel(qosClass)) {
            ranAt.append(CurrentThread.qosClass)
            hasRun.open()
        }
        return [
            Task.detached(executorPreference: scheduler.executor(for: qosClass)) { CurrentThread.qosClass },
            Task.detached {
                await hasRun.passed()
                return ranAt.all.first ?? nil
            },
            Task.detached(priority: qosClass.taskPriority) { await place.ranAt() },
        ]
    }

    @Test(
        "M3 the workers of background do the work of every class, until the clamp is over", arguments: QoSClass.allCases
    )
    func everyClass(_ qosClass: QoSClass) async throws {
        try await withScheduler { scheduler in
            let clamp = SchedulerClamp(scheduler)
            #expect(!clamp.set(true) && clamp.isOn)
            for task in Self.submit(at: qosClass, scheduler) {
                let ranAt = await task.escaped
                #expect(ranAt == .background)
            }
            #expect(clamp.set(false) && !clamp.isOn)
            clamp.workReturns()
            for task in Self.submit(at: qosClass, scheduler) {
                let ranAt = await task.escaped
                #expect(ranAt == qosClass)
            }
        }
    }

    @Test("M3 when the clamp is over, waiting work goes to its classes, though background's worker is busy")
    func returns() async throws {
        let configuration = QoSScheduler.Configuration(
            processors: 2, workers: [.background: 1], appliesKernelEffects: false, detectsBlocking: false)
        try await withScheduler(configuration) { scheduler in
            let clamp = SchedulerClamp(scheduler)
            _ = clamp.set(true)
            let (isBusy, release) = (Gate(), Gate())
            let hog = Task.detached(executorPreference: scheduler.executor(for: .utility)) {
                isBusy.open()
                release.blockThread()
            }
            await isBusy.passed()
            let tasks = Self.submit(at: .utility, scheduler)
            #expect(clamp.set(false))
            clamp.workReturns()
            // The call of the actor may come only now, and needs no return.
            for task in tasks {
                let ranAt = await task.escaped
                #expect(ranAt == .utility)
            }
            release.open()
            await hog.escaped
        }
    }

    /// One worker of background, and no stand-ins for it.
    private static let narrow = QoSScheduler.Configuration(
        processors: 2, workers: [.background: 1], appliesKernelEffects: false, detectsBlocking: false)

    @Test("M3 I4 when the clamp is over, a task that was raised before it was queued goes to the class of the raise")
    func returnsRaised() async throws {
        try await withScheduler(Self.narrow) { scheduler in
            let clamp = SchedulerClamp(scheduler)
            _ = clamp.set(true)
            let (begun, mayGoOn, isBusy, release) = (Gate(), Gate(), Gate(), Gate())
            let task = Task.detached(executorPreference: scheduler.executor(for: .utility), priority: .utility) {
                begun.open()
                await mayGoOn.passed()
                return CurrentThread.qosClass
            }
            await begun.passed()
            // It has the only worker once the task is suspended.
            let hog = Task.detached(executorPreference: scheduler.executor(for: .utility)) {
                isBusy.open()
                release.blockThread()
            }
            await isBusy.passed()
            scheduler.raise(task, to: .userInitiated)
            mayGoOn.open()
            #expect(clamp.set(false))
            clamp.workReturns()
            let ranAt = await task.escaped
            #expect(ranAt == .userInitiated)
            release.open()
            await hog.escaped
        }
    }

    @Test("M3 when the clamp is over, a job of a higher class does not wait at a checkpoint for background")
    func leavesCheckpoint() async throws {
        try await withScheduler(Self.narrow) { scheduler in
            let clamp = SchedulerClamp(scheduler)
            _ = clamp.set(true)
            let (begun, isOver) = (Gate(), Gate())
            let task = Task.detached(executorPreference: scheduler.executor(for: .utility)) {
                begun.open()
                while !isOver.isOpen { Self.checkpoint() }
                // Not here either: background is still stopped.
                Self.checkpoint()
                return CurrentThread.qosClass
            }
            await begun.passed()
            scheduler.setWidthLimit(0, for: .background)
            let pool = scheduler.core.group.pools.at(QoSClass.background.rank)
            while !pool.value.hasWaiting { await Task.yield() }
            #expect(clamp.set(false))
            clamp.workReturns()
            while pool.value.hasWaiting { await Task.yield() }
            isOver.open()
            let ranAt = await task.escaped
            #expect(ranAt == .background)
            scheduler.setWidthLimit(nil, for: .background)
            await scheduler.countsNoWorker()
        }
    }

    private static func checkpoint() { QoS.checkpoint() }

    @Test("M3 when the clamp is over, the further calls of an actor do not run in background's pool")
    func returnsCalls() async throws {
        try await withScheduler(Self.narrow) { scheduler in
            let clamp = SchedulerClamp(scheduler)
            _ = clamp.set(true)
            let place = Place(scheduler.makeSerialExecutor())
            let (begun, release) = (Gate(), Gate())
            // Begun at once, so that each call is in the actor's line when its task is made.
            let first = Task.immediate(priority: .utility) { await place.holds(begun, release) }
            await begun.passed()
            let second = Task.immediate(priority: .utility) { await place.ranAt() }
            #expect(clamp.set(false))
            clamp.workReturns()
            release.open()
            let ranAt = await second.escaped
            #expect(ranAt == .utility)
            await first.escaped
        }
    }

    @Test("M3 I4 when the clamp is over, a task counts at its own class for what it began to wait for meanwhile")
    func countsAtItsClass() async throws {
        try await withScheduler { scheduler in
            let clamp = SchedulerClamp(scheduler)
            _ = clamp.set(true)
            let (begun, mayGoOn) = (Gate(), Gate())
            let task = Task.detached(executorPreference: scheduler.executor(for: .utility)) {
                begun.open()
                await mayGoOn.passed()
            }
            await begun.passed()
            #expect(ConcurrencyRuntime.node(of: task).rankOfLatestRun == QoSClass.utility.rank)
            #expect(clamp.isOn)
            mayGoOn.open()
            await task.escaped
        }
    }

    @Test("M3 all parties that have a say have to agree")
    func parties() async throws {
        try await withScheduler { scheduler in
            let (one, other) = (SchedulerClamp(scheduler), SchedulerClamp(scheduler))
            #expect(!one.set(true) && one.isOn)
            #expect(other.set(false) && !one.isOn)
            #expect(!other.set(true) && one.isOn)
            #expect(!one.set(nil) && one.isOn)
            #expect(other.set(nil) && !one.isOn)
            #expect(!other.set(nil))
            var passing: SchedulerClamp? = SchedulerClamp(scheduler)
            _ = passing?.set(true)
            #expect(one.isOn)
            passing = nil
            #expect(!one.isOn)
        }
    }

    @Test("M3 a shutdown lifts the clamp, and there is none afterwards")
    func shutdown() async throws {
        let steps = Collected<Int>()
        let clamp = try await withScheduler { scheduler in
            let clamp = SchedulerClamp(scheduler)
            _ = clamp.set(true)
            Task.detached(executorPreference: scheduler.executor(for: .utility)) {
                for step in 0..<100 {
                    steps.append(step)
                    await Task.yield()
                }
            }
            return clamp
        }
        #expect(steps.all.count == 100 && !clamp.isOn)
        _ = clamp.set(false)
        _ = clamp.set(true)
        #expect(!clamp.isOn)
    }
}
