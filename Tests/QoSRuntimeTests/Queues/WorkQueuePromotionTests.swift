import QoSCore
import QoSKernel
import QoSKernelTestSupport
import QoSRuntimeTestSupport
import Synchronization
import Testing

@testable import QoSRuntime

@Suite("Promotion on work queues", .timeLimit(.minutes(5)))
struct WorkQueuePromotionTests {
    /// One worker for each class, so that what is to run before others has to be raised.
    private static let narrow = QoSScheduler.Configuration(
        processors: 1, appliesKernelEffects: false, detectsBlocking: false)

    /// An item that keeps its worker and tells its own level.
    private final class Blocker: Sendable {
        let begun = Gate()
        let goOn = Gate()
        let item: WorkItem

        init(level: QoSLevel? = nil, flags: WorkItemFlags = []) {
            item = WorkItem(level: level, flags: flags) { [begun, goOn] in
                begun.open()
                goOn.blockThread()
            }
        }
    }

    /// Waits until something that another thread does soon has been done.
    private func until(_ condition: () -> Bool) async {
        while !condition() { await Task.yield() }
    }

    /// Whether the first worker of the background pool is raised.
    private static func isRaised(_ scheduler: QoSScheduler) -> Bool {
        scheduler.core.group.pools[QoSClass.background.rank].workers[0].boost.isUp.load(
            ordering: .sequentiallyConsistent)
    }

    @Test("I3 B15 a high item raises the running one and those before it, until it has been reached")
    func raisesBefore() async throws {
        try await withScheduler { scheduler in
            let queue = scheduler.makeQueue("queue")
            let running = Blocker(level: .background)
            try queue.async(running.item)
            await running.begun.passed()
            let seen = Collected<(String, QoSLevel?)>()
            queue.async(level: .background) { seen.append(("before", QoS.currentLevel)) }
            #expect(running.item.effectiveLevel == .background)
            queue.async(level: .userInitiated) { seen.append(("high", QoS.currentLevel)) }
            queue.async(level: .utility) { seen.append(("after", QoS.currentLevel)) }
            queue.async(level: .background) { seen.append(("last", QoS.currentLevel)) }
            #expect(running.item.effectiveLevel == .userInitiated)
            // Submitted at the test's own level, and before the others run: it raises those before it.
            let end = Gate()
            queue.async { end.open() }
            running.goOn.open()
            await end.passed()
            #expect(seen.all.map(\.0) == ["before", "high", "after", "last"])
            #expect(seen.all.map(\.1) == [.userInitiated, .userInitiated, .default, .default])
        }
    }

    @Test("I3 a waiting queue is moved into the pool of its high item")
    func movesWaiting() async throws {
        try await withScheduler(Self.narrow) { scheduler in
            let hog = Blocker(level: .background)
            try scheduler.globalQueue(for: .background).async(hog.item)
            await hog.begun.passed()
            let queue = scheduler.makeQueue("queue")
            let order = Collected<String>()
            queue.async(level: .background) { order.append(CurrentThread.name) }
            queue.async(level: .userInitiated) { order.append(CurrentThread.name) }
            let last = WorkItem(level: .background) { order.append(CurrentThread.name) }
            try queue.async(last)
            await until { order.all.count == 2 }
            #expect(!last.isFinished)
            #expect(scheduler.snapshot.tasksMoved == 1)
            hog.goOn.open()
            await until { last.isFinished }
            #expect(order.all == ["qos-in-0", "qos-in-0", "qos-bg-0"])
        }
    }

    @Test("I1 B13 waiting for an item raises it and what stands before it, as long as the wait lasts")
    func waitRaises() async throws {
        try await withScheduler(Self.narrow) { scheduler in
            let queue = scheduler.makeQueue("queue")
            let running = Blocker(level: .background)
            let waiting = WorkItem(level: .background) {}
            try queue.async(running.item)
            await running.begun.passed()
            try queue.async(waiting)
            let hasWaited = Gate()
            scheduler.globalQueue(for: .userInitiated).async {
                #expect(throws: Never.self) { try waiting.blockUntilFinished(within: .milliseconds(20)) }
                hasWaited.open()
            }
            await until { running.item.effectiveLevel == .userInitiated || hasWaited.isOpen }
            await hasWaited.passed()
            #expect(running.item.effectiveLevel == .background)
            #expect(waiting.effectiveLevel == .background)
            running.goOn.open()
            await waiting.waitUntilFinished()
        }
    }

    @Test("I1 sync raises what stands before it to the level of the thread that waits")
    func syncRaises() async throws {
        try await withScheduler(Self.narrow) { scheduler in
            let queue = scheduler.makeQueue("queue")
            let running = Blocker(level: .background)
            try queue.async(running.item)
            await running.begun.passed()
            let done = Gate()
            scheduler.globalQueue(for: .userInteractive).async {
                #expect(throws: Never.self) { try queue.sync {} }
                done.open()
            }
            await until { running.item.effectiveLevel == .userInteractive }
            running.goOn.open()
            await done.passed()
        }
    }

    @Test("I1 awaiting an item raises it, and it follows when the waiting task is raised")
    func awaitRaises() async throws {
        try await withScheduler(Self.narrow) { scheduler in
            let queue = scheduler.makeQueue("queue")
            let running = Blocker(level: .background)
            try queue.async(running.item)
            await running.begun.passed()
            let waiter = Task(executorPreference: scheduler.executor(for: .utility), priority: .utility) {
                await running.item.waitUntilFinished()
            }
            await until { running.item.effectiveLevel == .utility }
            waiter.escalatePriority(to: .high)
            await until { running.item.effectiveLevel == .userInitiated }
            running.goOn.open()
            await waiter.value
        }
    }

    @Test("I1 run raises the closure and what stands before it")
    func runRaises() async throws {
        try await withScheduler(Self.narrow) { scheduler in
            let queue = scheduler.makeQueue("queue", level: .background)
            let running = Blocker()
            try queue.async(running.item)
            await running.begun.passed()
            let waiter = Task(executorPreference: scheduler.executor(for: .userInitiated), priority: .userInitiated) {
                try await queue.run { QoS.currentLevel }
            }
            await until { running.item.effectiveLevel == .userInitiated }
            running.goOn.open()
            try await #expect(waiter.value == .userInitiated)
        }
    }

    @Test("I3 a raise goes through target queues, to what runs there")
    func throughTargets() async throws {
        try await withScheduler { scheduler in
            let target = scheduler.makeQueue("target")
            let (first, second) = (
                try scheduler.makeQueue("first", target: target),
                try scheduler.makeQueue("second", .concurrent, target: target)
            )
            let running = Blocker(level: .background)
            try first.async(running.item)
            await running.begun.passed()
            second.async(level: .utility) {}
            await until { running.item.effectiveLevel == .utility }
            first.async(level: .userInteractive) {}
            #expect(running.item.effectiveLevel == .userInteractive)
            running.goOn.open()
            try await first.run {}
            try await second.run {}
        }
    }

    @Test("B11 I3 what waits behind a barrier raises what the barrier waits for")
    func throughBarriers() async throws {
        try await withScheduler { scheduler in
            let queue = scheduler.makeQueue("queue", .concurrent)
            let running = Blocker(level: .background)
            try queue.async(running.item)
            await running.begun.passed()
            queue.async(level: .userInitiated) {}
            #expect(running.item.effectiveLevel == .background)
            let barrier = WorkItem(level: .utility, flags: .barrier) {}
            try queue.async(barrier)
            #expect(running.item.effectiveLevel == .utility)
            queue.async(level: .userInitiated) {}
            #expect(running.item.effectiveLevel == .userInitiated)
            #expect(barrier.effectiveLevel == .userInitiated)
            running.goOn.open()
            await barrier.waitUntilFinished()
        }
    }

    @Test("B13 an item of a global queue that is waited for gets ahead of its pool")
    func globalItem() async throws {
        try await withScheduler(Self.narrow) { scheduler in
            let hog = Blocker(level: .background)
            let global = scheduler.globalQueue(for: .background)
            try global.async(hog.item)
            await hog.begun.passed()
            let name = Collected<String>()
            let item = WorkItem { name.append(CurrentThread.name) }
            try global.async(item)
            await Task(executorPreference: scheduler.executor(for: .userInitiated), priority: .userInitiated) {
                await item.waitUntilFinished()
            }.value
            #expect(name.all == ["qos-in-0"])
            hog.goOn.open()
            await hog.item.waitUntilFinished()
        }
    }

    @Test(
        "I3 B15 the thread that runs a low item is raised for a high one behind it, with privileges and without",
        arguments: [SimulatedSchedulingCalls.Rights.all, .none])
    func raisesThread(rights: SimulatedSchedulingCalls.Rights) async throws {
        var configuration = QoSScheduler.Configuration(processors: 1, detectsBlocking: false)
        configuration.schedulingCalls = SimulatedSchedulingCalls(rights: rights)
        try await withScheduler(configuration) { scheduler in
            let queue = scheduler.makeQueue("queue")
            for round in 1...20 {
                let running = Blocker(level: .background)
                try queue.async(running.item)
                await running.begun.passed()
                let high = WorkItem(level: .userInitiated) {}
                try queue.async(high)
                await until { scheduler.snapshot.runningPromoted >= UInt64(round) }
                running.goOn.open()
                await high.waitUntilFinished()
            }
            // A fence that stayed up would keep these from running.
            for qosClass in QoSClass.allCases { try await scheduler.globalQueue(for: qosClass).quietly {} }
        }
    }

    @Test(
        "B13 the thread is lowered again when the wait is over, while the item still runs",
        arguments: [SimulatedSchedulingCalls.Rights.all, .none])
    func lowersThread(rights: SimulatedSchedulingCalls.Rights) async throws {
        var configuration = QoSScheduler.Configuration(processors: 1, detectsBlocking: false)
        configuration.schedulingCalls = SimulatedSchedulingCalls(rights: rights)
        try await withScheduler(configuration) { scheduler in
            let running = Blocker(level: .background)
            let queue = scheduler.makeQueue("queue")
            try queue.async(running.item)
            await running.begun.passed()
            scheduler.globalQueue(for: .userInteractive).async {
                while scheduler.snapshot.runningPromoted == 0 {
                    _ = try? running.item.blockUntilFinished(within: .milliseconds(1))
                }
            }
            await until { scheduler.snapshot.runningPromoted > 0 }
            await until { !Self.isRaised(scheduler) }
            #expect(running.item.effectiveLevel == .background)
            // With a fence still up this would not run while the item does.
            try await scheduler.globalQueue(for: .default).quietly {}
            running.goOn.open()
            await running.item.waitUntilFinished()
        }
    }

    @Test("B7 a thread that runs a higher item synchronously is raised for as long as it does")
    func syncRaisesThread() async throws {
        var configuration = QoSScheduler.Configuration(processors: 1, detectsBlocking: false)
        configuration.schedulingCalls = SimulatedSchedulingCalls(rights: .all)
        try await withScheduler(configuration) { scheduler in
            let queue = scheduler.makeQueue("queue")
            try await scheduler.globalQueue(for: .background).quietly {
                try queue.sync(level: .userInitiated) {
                    while !Self.isRaised(scheduler) {}
                }
                while Self.isRaised(scheduler) {}
            }
        }
    }
}
