import QoSCore
import QoSRuntime
import QoSRuntimeTestSupport
import Testing

@Suite("A serial executor", .timeLimit(.minutes(5)))
struct SerialExecutorTests {
    /// Counts without an atomic: two threads at once would lose some.
    private actor Counter {
        private let executor: QoSSerialExecutor
        nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

        private(set) var count = 0
        private var isInside = false
        private(set) var overlaps = 0

        init(_ executor: QoSSerialExecutor) {
            self.executor = executor
        }

        func add() {
            if isInside { overlaps += 1 }
            isInside = true
            count += 1
            isInside = false
        }

        func addSlowly() async {
            add()
            await Task.yield()
            add()
        }

        func ranAt() -> QoSClass? { CurrentThread.qosClass }

        nonisolated func addAssumingIsolation() {
            preconditionIsolated()
            assumeIsolated { $0.add() }
        }

        func addThroughAssumption() { addAssumingIsolation() }
    }

    @Test("runs its actor's calls one at a time, whatever classes they come from")
    func exclusive() async throws {
        try await withScheduler { scheduler in
            let counter = Counter(scheduler.makeSerialExecutor())
            await withTaskGroup { group in
                for index in 0..<100 {
                    let qosClass = QoSClass.allCases[index % QoSClass.allCases.count]
                    group.addTask(
                        executorPreference: scheduler.executor(for: qosClass), priority: qosClass.taskPriority
                    ) {
                        for _ in 0..<100 {
                            await counter.add()
                            await counter.addSlowly()
                        }
                    }
                }
            }
            let (count, overlaps) = await (counter.count, counter.overlaps)
            #expect(count == 100 * 100 * 3)
            #expect(overlaps == 0)
        }
    }

    @Test("several actors that share one exclude each other")
    func shared() async throws {
        try await withScheduler { scheduler in
            let executor = scheduler.makeSerialExecutor()
            let unguarded = Unguarded()
            let actors = (0..<5).map { _ in Sharer(executor, unguarded) }
            await withTaskGroup { group in
                for index in 0..<50 {
                    let qosClass = QoSClass.allCases[index % 5]
                    group.addTask(
                        executorPreference: scheduler.executor(for: qosClass), priority: qosClass.taskPriority
                    ) {
                        for _ in 0..<100 { await actors[index / 10].add() }
                    }
                }
            }
            let count = await actors[0].count
            #expect(count == 5_000)
        }
    }

    // SAFETY: touched by actors only that share one serial executor; that is what the test is about.
    private final class Unguarded: @unchecked Sendable {
        var count = 0
    }

    private actor Sharer {
        private let executor: QoSSerialExecutor
        private let unguarded: Unguarded
        nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

        init(_ executor: QoSSerialExecutor, _ unguarded: Unguarded) {
            self.executor = executor
            self.unguarded = unguarded
        }

        var count: Int { unguarded.count }
        func add() { unguarded.count += 1 }
    }

    @Test("C4 runs a call in the pool of the caller's class", arguments: QoSClass.allCases)
    func classOfCall(_ qosClass: QoSClass) async throws {
        try await withScheduler { scheduler in
            let counter = Counter(scheduler.makeSerialExecutor())
            let ranAt = await Task.detached(priority: qosClass.taskPriority) { await counter.ranAt() }.escaped
            #expect(ranAt == qosClass)
        }
    }

    @Test("knows whether the calling thread runs a call of its actors")
    func isolation() async throws {
        try await withScheduler { scheduler in
            let executor = scheduler.makeSerialExecutor()
            let counter = Counter(executor)
            #expect(executor.isIsolatingCurrentContext() == false)
            await counter.addThroughAssumption()
            let count = await counter.count
            #expect(count == 1)
            let other = scheduler.makeSerialExecutor()
            let inside = await withCheckedContinuation { continuation in
                executor.enqueue(
                    _swift_createJobForTestingOnly(priority: .medium) {
                        continuation.resume(
                            returning: [executor.isIsolatingCurrentContext(), other.isIsolatingCurrentContext()])
                    })
            }
            #expect(inside == [true, false])
        }
    }

    @Test("I3 among waiting calls the higher class goes first, and within a class the one that came first")
    func order() async throws {
        try await withScheduler { scheduler in
            let executor = scheduler.makeSerialExecutor()
            let (begun, goOn, finished) = (Gate(), Gate(), Gate())
            let order = Collected<String>()
            executor.add(.background) {
                begun.open()
                goOn.blockThread()
            }
            await begun.passed()
            for qosClass in [QoSClass.background, .userInitiated, .utility, .userInteractive, .default] {
                for number in 1...2 {
                    executor.add(qosClass) { order.append("\(qosClass.abbreviation)\(number)") }
                }
            }
            executor.add(.background) { finished.open() }
            goOn.open()
            await finished.passed()
            #expect(order.all == ["ui1", "ui2", "in1", "in2", "df1", "df2", "ut1", "ut2", "bg1", "bg2"])
        }
    }

    @Test("I3 a high call does not wait behind what else the low class has to do")
    func overtakes() async throws {
        let configuration = QoSScheduler.Configuration(
            processors: 2, workers: [.background: 1], appliesKernelEffects: false, detectsBlocking: false)
        try await withScheduler(configuration) { scheduler in
            let executor = scheduler.makeSerialExecutor()
            let (busy, release, highRan, lowRan) = (Gate(), Gate(), Gate(), Gate())
            let order = Collected<String>()
            let hog = Task(executorPreference: scheduler.executor(for: .background)) {
                busy.open()
                release.blockThread()
            }
            await busy.passed()
            executor.add(.background) {
                order.append(CurrentThread.name)
                lowRan.open()
            }
            executor.add(.userInitiated) {
                order.append(CurrentThread.name)
                highRan.open()
            }
            await highRan.passed()
            #expect(!lowRan.isOpen)
            release.open()
            await lowRan.passed()
            await hog.value
            #expect(order.all.map { $0.prefix(6) } == ["qos-in", "qos-bg"])
        }
    }

    @Test("a lane that always has something to do leaves its pool's other work its turn")
    func fairness() async throws {
        try await withScheduler(.init(processors: 1, appliesKernelEffects: false, detectsBlocking: false)) {
            scheduler in
            let executor = scheduler.makeSerialExecutor()
            let stop = Gate()
            let stopped = Gate()
            executor.addForEver(.default, until: stop) { stopped.open() }
            await Task(executorPreference: scheduler.executor(for: .default)) { stop.open() }.value
            await stopped.passed()
            #expect(stop.isOpen)
        }
    }

    @Test("an actor may go away in its own last call")
    func goesAway() async throws {
        try await withScheduler { scheduler in
            let finished = Tally()
            await withTaskGroup { group in
                for index in 0..<2_000 {
                    let qosClass = QoSClass.allCases[index % 5]
                    group.addTask(
                        executorPreference: scheduler.executor(for: qosClass), priority: qosClass.taskPriority
                    ) {
                        await Counter(scheduler.makeSerialExecutor()).addSlowly()
                        finished.add()
                    }
                }
            }
            #expect(finished.value == 2_000)
        }
    }
}
