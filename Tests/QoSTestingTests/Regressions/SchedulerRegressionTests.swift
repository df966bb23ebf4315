import QoSCore
import QoSSimulation
import QoSTesting
import Testing

/// Bugs that other schedulers had, in virtual time. Those that need threads are in the runtime's tests.
@Suite("Bugs of other schedulers, in virtual time", .tags(.regression), .timeLimit(.minutes(5)))
struct SchedulerRegressionTests {
    /// Tasks that take every core with jobs of some length until a time, yielding in between.
    private func saturate(
        _ scheduler: DeterministicScheduler, _ classes: [QoSClass], length: Duration, until end: Duration
    ) {
        for qosClass in classes {
            for _ in 0..<4 {
                scheduler.startDetachedTask(at: qosClass) {
                    while scheduler.now.offset < end {
                        await scheduler.work(for: length)
                        await Task.yield()
                    }
                }
            }
        }
    }

    @Test(
        "C7 the timer of an idle class fires although only another class has work (glommio 484)",
        arguments: QoSClass.allCases)
    func idleQueueKeepsTimer(_ sleeper: QoSClass) throws {
        let scheduler = DeterministicScheduler(cores: 1)
        let end = Duration.seconds(1)
        saturate(scheduler, [sleeper == .background ? .utility : .background], length: .milliseconds(1), until: end)
        let woken = scheduler.startDetachedTask(at: sleeper) {
            var latest = Duration.zero
            for _ in 0..<10 {
                let deadline = scheduler.now.advanced(by: .milliseconds(20))
                try? await scheduler.clock.sleep(until: deadline)
                latest = max(latest, deadline.duration(to: scheduler.now))
            }
            return latest
        }
        let latest = try scheduler.run { await woken.value }
        // A class above the busy one waits for nothing, one below for its worst-case wait and a job.
        let bound = sleeper == .background ? Duration.milliseconds(250 + 2) : .zero
        #expect(latest <= bound)
        #expect(scheduler.now.offset > .milliseconds(199))
        // What is queued refers to its scheduler.
        try scheduler.runUntilIdle()
    }

    @Test(
        "C7 a task that yields to itself for ever does not starve its own class nor a lower one (glommio 431)",
        arguments: QoSClass.allCases)
    func selfYielding(_ other: QoSClass) throws {
        let scheduler = DeterministicScheduler(cores: 1)
        let greedy = scheduler.startDetachedTask(at: .userInteractive) {
            while !Task.isCancelled {
                await scheduler.work(for: .microseconds(100))
                await Task.yield()
            }
        }
        let victim = scheduler.startDetachedTask(at: other) { scheduler.now.offset }
        #expect(try scheduler.run(until: { scheduler.now.offset > .seconds(1) }))
        greedy.cancel()
        try scheduler.runUntilIdle()
        let ran = try scheduler.run { await victim.value }
        #expect(ran <= SchedulingParameters()[other].worstCaseWait + .milliseconds(10))
    }

    @Test(
        "no worker parks while work is queued that it may take (glommio 53)", arguments: 1...40 as ClosedRange<UInt64>)
    func parkingWhileRunnable(_ seed: UInt64) {
        // Every state of the run is checked: a core that is idle beside waiting work of an admissible class, a class
        // that has work and no worker.
        let world = SimulatedWorld(seed: seed &* 7919, events: 300, disturbance: .blocking)
        let report = failureReport(of: world, named: "seed \(seed)") { _ in nil }
        #expect(report == nil)
    }

    @Test(
        "C7 a chain of hops does not wait for others at each hop (scylladb 9505)", arguments: [1, 10, 100],
        [Duration.microseconds(500), .milliseconds(10)])
    func delayPerHop(_ hops: Int, _ lowJob: Duration) throws {
        let scheduler = DeterministicScheduler(cores: 1)
        saturate(scheduler, [.default, .utility, .background], length: lowJob, until: .seconds(1))
        try scheduler.advance(by: .milliseconds(3))
        let started = scheduler.now.offset
        let ended = try scheduler.run(at: .userInteractive) {
            for _ in 0..<hops {
                await Task(executorPreference: scheduler.executor(for: .userInteractive), priority: .userInteractive) {
                    await scheduler.work(for: .microseconds(20))
                }.value
            }
            return scheduler.now.offset
        }
        #expect(ended - started == .microseconds(20) * hops)
        try scheduler.runUntilIdle()
    }

    @Test("C7 a class that was idle for long saves nothing up: it gets no more than one that was not (scylladb 2398)")
    func creditWhileIdle() throws {
        func share(idle: Duration) throws -> [Duration] {
            let low = SimulatedJob(.background, arrival: idle, length: .milliseconds(100))
            let high = (0..<1_000).map { number in
                SimulatedJob(.userInteractive, arrival: idle + .milliseconds(number), length: .milliseconds(1))
            }
            // Something that runs before, so that the scheduler is not new.
            let before = SimulatedJob(.background, arrival: .zero, length: .milliseconds(1))
            let report = try ScheduleSimulation(cores: 1, jobs: [before, low] + high).run()
            return report.outcomes.filter { $0.job.arrival >= idle }.map { $0.ended - idle }.sorted()
        }
        let fresh = try share(idle: .milliseconds(2))
        let idled = try share(idle: .seconds(3600))
        #expect(fresh == idled)
        #expect(idled.count == 1_001)
    }

    @Test("I4 a running background task that a higher one awaits is raised above what is between (Chromium)")
    func runningBackgroundIsRaised() throws {
        let scheduler = DeterministicScheduler(cores: 1)
        let awaited = scheduler.startDetachedTask(at: .background, label: "b") {
            await scheduler.work(for: .milliseconds(10))
        }
        try scheduler.advance(by: .milliseconds(2))
        saturate(scheduler, [.default, .utility], length: .milliseconds(1), until: .seconds(1))
        try scheduler.advance(by: .milliseconds(2))
        let ended = try scheduler.run(at: .userInitiated) {
            await awaited.value
            return scheduler.now.offset
        }
        // 4 ms passed, 2 of them with the core; nobody else gets it any more.
        #expect(ended == .milliseconds(12))
        try scheduler.runUntilIdle()
    }
}
