import QoSCore
import QoSRuntimeTestSupport
import Synchronization
import Testing

@testable import QoSRuntime

@Suite("The governor's width of a class", .timeLimit(.minutes(5)))
struct WidthLimitTests {
    private final class Observer: SchedulerObserver {
        let events = Collected<SchedulerEvent>()

        func observe(_ event: SchedulerEvent) { events.append(event) }

        /// The limits that have taken effect.
        func limits(of wanted: QoSClass) -> [Int?] {
            events.all.compactMap { event in
                if case .widthLimited(wanted, let limit, _) = event { .some(limit) } else { nil }
            }
        }
    }

    private func pool(_ scheduler: QoSScheduler, _ qosClass: QoSClass) -> SchedulerSnapshot.Pool {
        scheduler.snapshot.pools[QoSClass.userInteractive.rank - qosClass.rank]
    }

    @Test("none at first; what is set can be read, and is lifted by nil", arguments: QoSClass.allCases)
    func readable(_ qosClass: QoSClass) async throws {
        try await withScheduler { scheduler in
            #expect(scheduler.widthLimit(for: qosClass) == nil)
            for limit in [0, 1, 5] {
                scheduler.setWidthLimit(limit, for: qosClass)
                #expect(scheduler.widthLimit(for: qosClass) == limit)
                #expect(pool(scheduler, qosClass).widthLimit == limit)
            }
            scheduler.setWidthLimit(-3, for: qosClass)
            #expect(scheduler.widthLimit(for: qosClass) == 0)
            scheduler.setWidthLimit(nil, for: qosClass)
            #expect(scheduler.widthLimit(for: qosClass) == nil)
        }
    }

    @Test("a lower one takes effect at job boundaries, and is told of when it has; so does a higher one")
    func boundaries() async throws {
        let observer = Observer()
        let configuration = QoSScheduler.Configuration(
            processors: 4, appliesKernelEffects: false, detectsBlocking: false, observer: observer)
        try await withScheduler(configuration) { scheduler in
            let isOver = Gate()
            let tasks = (0..<8).map { _ in
                Task.detached(executorPreference: scheduler.executor(for: .utility)) {
                    while !isOver.isOpen { await Task.yield() }
                }
            }
            while pool(scheduler, .utility).running < 4 { await Task.yield() }
            scheduler.setWidthLimit(1, for: .utility)
            while observer.limits(of: .utility) != [1] { await Task.yield() }
            #expect(pool(scheduler, .utility).running <= 1)
            scheduler.setWidthLimit(3, for: .utility)
            // The reading that ends the wait is the one that counts: at the next one a worker may look for work.
            var running = 0
            while running < 3 {
                await Task.yield()
                running = pool(scheduler, .utility).running
            }
            #expect(running == 3)
            // Whichever thread found that it took effect may be about to tell; it would tell after the next otherwise.
            while observer.limits(of: .utility).count < 2 { await Task.yield() }
            scheduler.setWidthLimit(nil, for: .utility)
            while pool(scheduler, .utility).running < 4 { await Task.yield() }
            // Another thread may have found that the change took effect, and be about to tell.
            while observer.limits(of: .utility).count < 3 { await Task.yield() }
            #expect(observer.limits(of: .utility) == [1, 3, nil])
            isOver.open()
            for task in tasks { await task.value }
        }
    }

    @Test("the time from the change to its effect is told: at least that of the job that was running")
    func latency() async throws {
        let observer = Observer()
        let configuration = QoSScheduler.Configuration(
            processors: 2, appliesKernelEffects: false, detectsBlocking: false, observer: observer)
        try await withScheduler(configuration) { scheduler in
            let (begun, release) = (Gate(), Gate())
            let task = Task.detached(executorPreference: scheduler.executor(for: .utility)) {
                begun.open()
                release.blockThread()
            }
            await begun.passed()
            scheduler.setWidthLimit(0, for: .utility)
            let between = ContinuousClock.now
            for _ in 0..<100 { await Task.yield() }
            #expect(observer.limits(of: .utility).isEmpty)
            let atLeast = ContinuousClock.now - between
            release.open()
            await task.escaped
            while observer.limits(of: .utility).isEmpty { await Task.yield() }
            let took = pool(scheduler, .utility).widthChangeDelay
            #expect(took >= atLeast)
            scheduler.setWidthLimit(nil, for: .utility)
        }
    }

    @Test("a class with the limit 0 is paused and the others are not; what waits is run when the limit is lifted")
    func paused() async throws {
        try await withScheduler { scheduler in
            scheduler.setWidthLimit(0, for: .background)
            let ran = Tally()
            let tasks = (0..<20).map { _ in
                Task.detached(executorPreference: scheduler.executor(for: .background)) { _ = ran.add() }
            }
            for qosClass in QoSClass.allCases where qosClass != .background {
                await Task.detached(executorPreference: scheduler.executor(for: qosClass)) { await Task.yield() }.value
            }
            #expect(ran.value == 0)
            #expect(pool(scheduler, .background).running == 0)
            scheduler.setWidthLimit(1, for: .background)
            for task in tasks { await task.escaped }
            #expect(ran.value == 20)
        }
    }

    @Test("what is paused and awaited by something of a higher class is run there", arguments: [true, false])
    func promotedWhilePaused(_ explicitly: Bool) async throws {
        try await withScheduler { scheduler in
            scheduler.setWidthLimit(0, for: .background)
            let task = Task.detached(executorPreference: scheduler.executor, priority: .background) {
                CurrentThread.qosClass
            }
            let other = Task.detached(executorPreference: scheduler.executor, priority: .background) {
                CurrentThread.qosClass
            }
            if explicitly {
                scheduler.raise(task, to: .userInitiated)
                #expect(await task.escaped == .userInitiated)
            } else {
                let ranAt = await Task.detached(executorPreference: scheduler.executor, priority: .userInitiated) {
                    await task.value
                }.escaped
                #expect(ranAt == .userInitiated)
            }
            #expect(pool(scheduler, .userInitiated).movedIn == 1)
            scheduler.setWidthLimit(nil, for: .background)
            #expect(await other.escaped == .background)
        }
    }

    @Test("while only paused work waits, the loop sleeps for longer than a look")
    func quietWhilePaused() async throws {
        try await withScheduler { scheduler in
            scheduler.setWidthLimit(0, for: .background)
            let task = Task.detached(executorPreference: scheduler.executor(for: .background)) {}
            while !scheduler.core.group.calls.isLookingSlowly.load(ordering: .relaxed) { await Task.yield() }
            scheduler.setWidthLimit(nil, for: .background)
            await task.escaped
        }
    }

    @Test("a class has as many workers at work as the configuration says, up to the processors")
    func configuredWidth() async throws {
        let configuration = QoSScheduler.Configuration(
            processors: 4, workers: [.background: 3, .utility: 1], appliesKernelEffects: false, detectsBlocking: false)
        try await withScheduler(configuration) { scheduler in
            let isOver = Gate()
            let tasks = [QoSClass.background, .utility].flatMap { qosClass in
                (0..<6).map { _ in
                    Task.detached(executorPreference: scheduler.executor(for: qosClass)) {
                        while !isOver.isOpen { await Task.yield() }
                    }
                }
            }
            // The classes start their workers one after the other, in any order.
            while pool(scheduler, .background).running < 3 || pool(scheduler, .utility).running < 1 {
                await Task.yield()
            }
            #expect(pool(scheduler, .background).running == 3)
            #expect(pool(scheduler, .utility).running == 1)
            isOver.open()
            for task in tasks { await task.escaped }
        }
    }

    @Test(
        "S2 O11 cancelled work of a stopped class comes to its end in the lowest class that runs",
        arguments: [false, true])
    func cancelledWork(isSuspended: Bool) async throws {
        try await withScheduler { scheduler in
            for qosClass in [QoSClass.background, .utility] { scheduler.setWidthLimit(0, for: qosClass) }
            let (begun, ended, other) = (Gate(), Gate(), Tally())
            let seen = Collected<QoSClass?>()
            if isSuspended { scheduler.setWidthLimit(nil, for: .background) }
            let task = scheduler.startDetachedTask(at: .background, name: "cancelled") {
                begun.open()
                try? await Task.sleep(for: .seconds(3600))
                for _ in 0..<3 { await Task.yield() }
                seen.append(Worker.current?.pool.value.qosClass)
                if Task.isCancelled { ended.open() }
            }
            if isSuspended { await begun.passed() }
            scheduler.setWidthLimit(0, for: .background)
            let waiting = scheduler.startDetachedTask(at: .background, name: "not cancelled") { _ = other.add() }
            task.cancel()
            // Nobody awaits the task, which would raise it.
            await ended.passed()
            #expect(seen.all == [.default])
            #expect(other.value == 0, "work that is not cancelled stays stopped")
            scheduler.setWidthLimit(nil, for: .background)
            await waiting.value
        }
    }
}
