import QoSCore
import QoSTesting
import Testing

@Suite("A deterministic scheduler", .timeLimit(.minutes(5)))
struct DeterministicSchedulerTests {
    @Test("C7 a higher task takes the core, and the lower one goes on afterwards")
    func preemption() throws {
        let scheduler = DeterministicScheduler(cores: 1)
        scheduler.startDetachedTask(at: .background, label: "b") { await scheduler.work(for: .milliseconds(4)) }
        try scheduler.advance(by: .milliseconds(2))
        #expect(scheduler.now.offset == .milliseconds(2))
        scheduler.startDetachedTask(at: .userInteractive, label: "a") { await scheduler.work(for: .milliseconds(2)) }
        #expect(try scheduler.runUntilIdle())
        #expect(scheduler.now.offset == .milliseconds(6))
        try scheduler.timeline().require(
            """
            ui: --aa
            bg: bb..bb
            """)
        try scheduler.coreTimeline().require("core0: bbaabb")
    }

    @Test("on several cores as many jobs run, the highest first")
    func cores() throws {
        let scheduler = DeterministicScheduler(cores: 2)
        for (label, qosClass) in zip("abcde", QoSClass.allCases) {
            scheduler.startDetachedTask(at: qosClass, label: label) { await scheduler.work(for: .milliseconds(2)) }
        }
        try scheduler.runUntilIdle()
        try scheduler.timeline().require(
            """
            ui: ee
            in: dd
            df: ..cc
            ut: ..bb
            bg: ....aa
            """)
        #expect(scheduler.counters.jobsRun == 5)
    }

    @Test("tasks run on the thread of the test, only while it runs the scheduler")
    func thread() throws {
        let scheduler = DeterministicScheduler()
        let notes = Notes()
        scheduler.startDetachedTask(at: .default) { notes.add(1) }
        #expect(notes.all.isEmpty)
        try scheduler.runUntilIdle()
        #expect(notes.all == [1])
        let own = threadID()
        #expect(try scheduler.run { threadID() } == own)
    }

    @Test("inside a class tasks run in the order of arrival, or shuffled the same way for the same seed")
    func order() throws {
        func run(_ order: DeterministicScheduler.Order) throws -> [Int] {
            let scheduler = DeterministicScheduler(cores: 2, order: order)
            let notes = Notes()
            for number in 0..<50 {
                scheduler.startDetachedTask(at: .utility) {
                    notes.add(number)
                    await Task.yield()
                    notes.add(100 + number)
                }
            }
            try scheduler.runUntilIdle()
            return notes.all
        }
        #expect(try run(.arrival) == Array(0..<50) + Array(100..<150))
        let shuffled = try run(.shuffled(seed: 3))
        #expect(shuffled != Array(0..<50) + Array(100..<150))
        #expect(shuffled.sorted() == Array(0..<50) + Array(100..<150))
        #expect(try run(.shuffled(seed: 3)) == shuffled)
        #expect(try run(.shuffled(seed: 4)) != shuffled)
    }

    @Test("sleeps take virtual time: by the clock exactly, by the task within the leeway of its class (rule S6)")
    func sleeps() throws {
        let scheduler = DeterministicScheduler()
        let byClock = try scheduler.run(at: .background) {
            try await scheduler.clock.sleep(for: .seconds(3600))
            return scheduler.now.offset
        }
        #expect(byClock == .seconds(3600))
        let byTask = try scheduler.run(at: .background) {
            try await Task.sleep(for: .milliseconds(10))
            return scheduler.now.offset
        }
        // The library reads a real clock, on which some of the delay may have passed.
        #expect(byTask > byClock && byTask <= byClock + .milliseconds(10) + .milliseconds(40))
        let exact = try scheduler.run(at: .background) {
            try await Task.sleep(for: .milliseconds(10), tolerance: .zero)
            return scheduler.now.offset
        }
        #expect(exact > byTask && exact <= byTask + .milliseconds(10))
        #expect(scheduler.clock.sleepers == 0)
    }

    @Test(
        "S6 a single sleep of default or above ends at its deadline, one below uses its window",
        arguments: QoSClass.allCases)
    func promptSleeps(_ qosClass: QoSClass) throws {
        let scheduler = DeterministicScheduler()
        let slept = try scheduler.run(at: qosClass) {
            try await Task.sleep(for: .milliseconds(20))
            return scheduler.now.offset
        }
        #expect((slept <= .milliseconds(20)) == (qosClass >= .default), "\(slept)")
    }

    @Test("an advance looks at the timers at its end, and leaves what is later")
    func advance() throws {
        let scheduler = DeterministicScheduler()
        let notes = Notes()
        for seconds in [3, 1, 2] {
            scheduler.startDetachedTask(at: .utility) {
                try? await scheduler.clock.sleep(for: .seconds(seconds))
                notes.add(seconds)
            }
        }
        try scheduler.advance(by: .seconds(2))
        #expect(notes.all == [1, 2])
        #expect(scheduler.clock.sleepers == 1)
        #expect(try !scheduler.runUntilIdle(within: .milliseconds(999)))
        #expect(try scheduler.runUntilIdle())
        #expect(notes.all == [1, 2, 3])
    }

    @Test("a sleep that is cancelled ends at its cancellation")
    func cancelled() throws {
        let scheduler = DeterministicScheduler()
        let task = scheduler.startDetachedTask(at: .default) {
            try? await scheduler.clock.sleep(for: .seconds(60))
            return scheduler.now.offset
        }
        try scheduler.advance(by: .seconds(1))
        task.cancel()
        let ended = try scheduler.run { await task.value }
        #expect(ended == .seconds(1))
        #expect(scheduler.clock.sleepers == 0)
    }

    @Test("what goes on outside of it is not waited for, and said")
    func stalled() async throws {
        let scheduler = DeterministicScheduler()
        let (never, feeder) = AsyncStream.makeStream(of: Void.self)
        #expect(throws: DeterministicSchedulerError.stalled(at: scheduler.now)) {
            try scheduler.run { for await _ in never {} }
        }
        feeder.finish()
        try scheduler.runUntilIdle()
    }

    @Test("a task that yields for ever without taking time is given up")
    func standsStill() throws {
        let scheduler = DeterministicScheduler()
        let task = scheduler.startDetachedTask(at: .default) { while !Task.isCancelled { await Task.yield() } }
        let error = #expect(throws: DeterministicSchedulerError.self) { try scheduler.runUntilIdle() }
        #expect(error == .timeStandsStill(at: scheduler.now))
        task.cancel()
        #expect(try scheduler.runUntilIdle())
    }

    @Test("it is not run by two at a time")
    func nested() throws {
        let scheduler = DeterministicScheduler()
        let error = try scheduler.run { () -> DeterministicSchedulerError? in
            do throws(DeterministicSchedulerError) {
                try scheduler.runUntilIdle()
                return nil
            } catch {
                return error
            }
        }
        #expect(error == .alreadyRuns)
    }

    @Test("an operation's error comes back")
    func throwing() {
        struct Broken: Error {}
        #expect(throws: Broken.self) { try DeterministicScheduler().run { throw Broken() } }
    }

    @Test("child tasks, groups and plain actors of its tasks run on it, too")
    func structured() throws {
        actor Sum {
            var value = 0
            func add(_ number: Int) { value += number }
        }
        let scheduler = DeterministicScheduler(cores: 2, order: .shuffled(seed: 8))
        let own = threadID()
        let sum = try scheduler.run(at: .userInitiated) {
            let sum = Sum()
            await withTaskGroup { group in
                for number in 1...100 {
                    group.addTask {
                        await scheduler.work(for: .microseconds(number))
                        #expect(threadID() == own)
                        await sum.add(number)
                    }
                }
            }
            async let double = sum.value * 2
            return await double
        }
        #expect(sum == 10_100)
    }

    @Test("a hundred thousand jobs, yields of a thousand tasks, take no virtual time", .tags(.slow))
    func many() throws {
        let scheduler = DeterministicScheduler(cores: 2)
        for _ in 0..<1_000 {
            scheduler.startDetachedTask(at: .utility) { for _ in 0..<100 { await Task.yield() } }
        }
        try scheduler.runUntilIdle()
        #expect(scheduler.counters.jobsRun >= 101_000)
        #expect(scheduler.now.offset == .zero)
    }
}
