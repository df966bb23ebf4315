import QoSCore
import QoSRuntimeTestSupport
import QoSTesting
import Testing

@Suite("Promotion on a deterministic scheduler", .timeLimit(.minutes(5)))
struct DeterministicPromotionTests {
    @Test("I4 a waiting task that a higher one awaits goes before the others of its class")
    func movesWaiting() throws {
        let scheduler = DeterministicScheduler(cores: 1)
        for label in "abc" {
            scheduler.startDetachedTask(at: .background, label: label) { await scheduler.work(for: .milliseconds(2)) }
        }
        let awaited = scheduler.startDetachedTask(at: .background, label: "x") {
            await scheduler.work(for: .milliseconds(2))
        }
        try scheduler.advance(by: .milliseconds(1))
        scheduler.startDetachedTask(at: .userInitiated) { await awaited.value }
        try scheduler.runUntilIdle()
        try scheduler.timeline().require(
            """
            in: -xx
            bg: a..abbcc
            """)
        #expect(scheduler.counters.tasksMoved == 1)
    }

    @Test("I4 a running task that a higher one awaits is raised above the classes between, until its job ends")
    func raisesRunning() throws {
        let scheduler = DeterministicScheduler(cores: 1)
        let awaited = scheduler.startDetachedTask(at: .background, label: "x") {
            await scheduler.work(for: .milliseconds(4))
        }
        try scheduler.advance(by: .milliseconds(1))
        scheduler.startDetachedTask(at: .default, label: "d") { await scheduler.work(for: .milliseconds(3)) }
        try scheduler.advance(by: .milliseconds(1))
        scheduler.startDetachedTask(at: .userInitiated, label: "a") {
            await awaited.value
            await scheduler.work(for: .milliseconds(1))
        }
        try scheduler.runUntilIdle()
        try scheduler.timeline().require(
            """
            in: -----a
            df: -d....dd
            bg: x.xxx
            """)
        #expect(scheduler.counters.runningPromoted == 1)
    }

    @Test("I4 a task is not lowered by a lower one that awaits it")
    func neverLowered() throws {
        let scheduler = DeterministicScheduler(cores: 1)
        let high = scheduler.startDetachedTask(at: .userInteractive, label: "a") {
            await scheduler.work(for: .milliseconds(2))
        }
        scheduler.startDetachedTask(at: .background) { await high.value }
        scheduler.startDetachedTask(at: .default, label: "d") { await scheduler.work(for: .milliseconds(1)) }
        try scheduler.runUntilIdle()
        try scheduler.timeline().require("ui: aa\ndf: ..d")
    }

    @Test(
        "I4 a task that waits in any state is promoted when something of a higher class awaits it",
        arguments: WaitingState.allCases)
    func everyState(_ state: WaitingState) throws {
        let scheduler = DeterministicScheduler(cores: 1)
        let stage = WaitingStage(
            low: scheduler.executor(for: .background), high: scheduler.executor(for: .userInitiated),
            serial: scheduler.makeSerialExecutor(), hog: { await scheduler.work(for: .seconds(1)) },
            report: { "\(scheduler.now.nanoseconds / 1_000_000) ms" })
        let waiting = state.start(on: stage)
        try scheduler.advance(by: .milliseconds(50))
        waiting.resume()
        try scheduler.advance(by: .milliseconds(50))
        let waiter = stage.waiter(for: waiting.task)
        #expect(try scheduler.run { await waiter.value } == "100 ms")
        // What stood before the task ends too: a suspended task keeps its scheduler.
        try scheduler.runUntilIdle()
    }

    @Test("three tasks that yield take turns: abcabc, never aabbcc")
    func turns() throws {
        let scheduler = DeterministicScheduler(cores: 1)
        let notes = Notes()
        for number in 0..<3 {
            scheduler.startDetachedTask(at: .utility) {
                for _ in 0..<4 {
                    notes.add(number)
                    await Task.yield()
                }
            }
        }
        try scheduler.runUntilIdle()
        #expect(notes.all == [0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2])
    }

    private actor Store {
        private let executor: DeterministicSerialExecutor
        nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }
        private var inside = 0

        init(_ scheduler: DeterministicScheduler) { executor = scheduler.makeSerialExecutor() }

        func use(_ scheduler: DeterministicScheduler, for duration: Duration) async -> Bool {
            executor.preconditionIsolated()
            inside += 1
            let isAlone = inside == 1
            await scheduler.work(for: duration)
            inside -= 1
            return isAlone
        }
    }

    @Test(
        "I3 a call of an actor that keeps its executor is raised while a higher call waits; the higher one goes first")
    func serialExecutor() throws {
        let scheduler = DeterministicScheduler(cores: 1)
        let store = Store(scheduler)
        let calls = "xyz".map { label in
            scheduler.startDetachedTask(at: .background, label: label) {
                await store.use(scheduler, for: .milliseconds(2))
            }
        }
        try scheduler.advance(by: .milliseconds(1))
        scheduler.startDetachedTask(at: .default, label: "d") { await scheduler.work(for: .milliseconds(1)) }
        let high = scheduler.startDetachedTask(at: .userInteractive, label: "h") {
            await store.use(scheduler, for: .milliseconds(1))
        }
        try scheduler.runUntilIdle()
        try scheduler.timeline().require(
            """
            ui: -.h
            df: -..d
            bg: xx..yyzz
            """)
        let alone = try scheduler.run { [calls] in
            var alone = await high.value
            for call in calls { alone = await call.value && alone }
            return alone
        }
        #expect(alone)
    }

    @Test("I3 a serial executor runs one call at a time in every order", arguments: 1...12 as ClosedRange<UInt64>)
    func exclusion(_ seed: UInt64) throws {
        let scheduler = DeterministicScheduler(cores: 3, order: .shuffled(seed: seed))
        let store = Store(scheduler)
        let overlaps = Notes()
        for index in 0..<60 {
            scheduler.startDetachedTask(at: QoSClass.allCases[index % 5]) {
                let isAlone = await store.use(scheduler, for: .microseconds(index % 7 * 10))
                if !isAlone { overlaps.add(index) }
            }
        }
        #expect(try scheduler.runUntilIdle(), "seed \(seed)")
        #expect(overlaps.all.isEmpty, "seed \(seed)")
    }
}
