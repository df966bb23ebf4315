import QoSCore
import QoSKernel
import QoSTesting
import Testing

/// Code that is not written for executors.
private actor Feed {
    private(set) var lines: [String] = []
    private var tasks: [Task<Void, Never>] = []

    func add(_ line: String) { lines.append(line) }

    func start(_ notes: Notes, _ clock: VirtualClock) {
        for number in 1...3 {
            tasks.append(
                Task {
                    try? await clock.sleep(for: .seconds(4 - number))
                    add("line \(number)")
                    notes.add(number)
                })
        }
    }

    func finished() async {
        for task in tasks { await task.value }
    }
}

@Suite("The jobs that a deterministic scheduler takes", .timeLimit(.minutes(5)))
struct ReachTests {
    @Test("everything: tasks without an executor and their actors run on the test's thread, in virtual time")
    func everything() throws {
        let scheduler = DeterministicScheduler(taking: .everything)
        let (notes, own) = (Notes(), threadID())
        let lines = try scheduler.run {
            let feed = Feed()
            await feed.start(notes, scheduler.clock)
            await feed.finished()
            #expect(threadID() == own)
            await Task.detached { #expect(threadID() == own) }.value
            return await feed.lines
        }
        #expect(lines == ["line 3", "line 2", "line 1"])
        #expect(notes.all == [3, 2, 1])
        #expect(scheduler.now.offset == .seconds(3))
    }

    @Test("everything: what a task does elsewhere is waited for: a sleep in real time, a call of the main actor")
    func elsewhere() throws {
        let (scheduler, own) = (DeterministicScheduler(taking: .everything), threadID())
        let seen = try scheduler.run {
            await Task.detached {
                try? await Task.sleep(for: .milliseconds(1))
                let afterSleep = threadID() == own
                let onMain = await MainActor.run { threadID() }
                return [afterSleep, onMain != own, threadID() == own]
            }.value
        }
        #expect(seen == [true, true, true])
    }

    @Test("everything: the same seed gives the same order of tasks without an executor")
    func seeds() throws {
        func run(_ seed: UInt64) throws -> [Int] {
            let (scheduler, notes) = (
                DeterministicScheduler(order: .shuffled(seed: seed), taking: .everything), Notes()
            )
            try scheduler.run {
                let tasks = (0..<30).map { number in
                    Task {
                        notes.add(number)
                        await Task.yield()
                        notes.add(100 + number)
                    }
                }
                for task in tasks { await task.value }
            }
            return notes.all
        }
        #expect(try run(5) == run(5))
        #expect(try run(5) != run(6))
    }

    @Test("everything: a task that another thread resumes comes back, and runs in the next run")
    func comesBack() async throws {
        let scheduler = DeterministicScheduler(taking: .everything)
        let (stream, feeder) = AsyncStream.makeStream(of: Void.self)
        let threads = Notes()
        let reads: @Sendable () async -> Void = {
            await Task { for await _ in stream { threads.add(Int(threadID().rawValue)) } }.value
        }
        scheduler.startTask(at: .default, reads)
        try scheduler.runUntilIdle()
        await Task.detached {
            feeder.yield()
            feeder.finish()
        }.value
        let (driver, jobs) = (threadID(), scheduler.counters.jobsRun)
        try scheduler.runUntilIdle()
        #expect(threads.all == [Int(driver.rawValue)])
        #expect(scheduler.counters.jobsRun > jobs)
    }

    @Test("everything: tasks of others stay where they are")
    func others() async throws {
        let (begin, feeder) = AsyncStream.makeStream(of: Void.self)
        let outer = Task.detached {
            for await _ in begin {}
            return "ended elsewhere"
        }
        let scheduler = DeterministicScheduler(taking: .everything)
        try scheduler.run { feeder.finish() }
        #expect(await outer.value == "ended elsewhere")
        #expect(scheduler.counters.jobsRun == 1)
    }

    @Test("executors: a task without an executor fails the run, and the failure names the task and its creator")
    func leaves() throws {
        let scheduler = DeterministicScheduler()
        let error = #expect(throws: DeterministicSchedulerError.self) {
            try scheduler.run {
                let task = Task(name: "refresh", priority: .low) {}
                await task.value
            }
        }
        let text = "\(try #require(error))"
        #expect(text.contains("'refresh'") && text.contains("taking: .everything"), "\(text)")
    }

    @Test("executors: what code resumes or starts elsewhere on purpose is no failure")
    func staysQuiet() async throws {
        let (begin, feeder) = AsyncStream.makeStream(of: Void.self)
        let outer = Task.detached { for await _ in begin {} }
        let (scheduler, other) = (DeterministicScheduler(), DeterministicScheduler())
        try scheduler.run {
            feeder.finish()
            await withTaskGroup { group in
                for _ in 0..<4 { group.addTask { await Task.yield() } }
            }
            async let child: Void = Task.yield()
            await child
            other.startDetachedTask(at: .utility) {}
        }
        try other.runUntilIdle()
        await outer.value
        #expect(other.counters.jobsRun == 1)
    }
}
