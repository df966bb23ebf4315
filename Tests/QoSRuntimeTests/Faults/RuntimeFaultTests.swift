import Glibc
import QoSCore
import QoSKernel
import QoSKernelTestSupport
import QoSProcessTestSupport
import QoSRuntimeTestSupport
import QoSTesting
import Testing

@testable import QoSRuntime

@Suite("Faults of what runs on the pools", .timeLimit(.minutes(3)))
struct RuntimeFaultTests {
    @Test(
        "a job that never ends takes one worker of its class: the others go on, and shutdown names it",
        arguments: QoSClass.allCases)
    func neverEnding(_ qosClass: QoSClass) async throws {
        let scheduler = try QoSScheduler(
            configuration: .init(processors: 4, appliesKernelEffects: false, detectsBlocking: false))
        let (begun, release) = (Gate(), Gate())
        let name = Collected<String>()
        let stuck = Task(executorPreference: scheduler.executor(for: qosClass)) {
            name.append(CurrentThread.name)
            begun.open()
            release.blockThread()
        }
        await begun.passed()
        for other in QoSClass.allCases {
            let done = await withTaskGroup { group in
                for _ in 0..<200 {
                    group.addTask(executorPreference: scheduler.executor(for: other)) {
                        await Task.yield()
                        return 1
                    }
                }
                return await group.reduce(0, +)
            }
            #expect(done == 200)
        }
        let report = try await scheduler.shutdown(within: .zero)
        #expect(Set(report.abandonedWorkers).isSuperset(of: name.all))
        release.open()
        await stuck.value
    }

    @Test(
        "jobs that never end in every class at once keep nobody else from working while a processor is left",
        .tags(.slow))
    func neverEndingEverywhere() async throws {
        let scheduler = try QoSScheduler(
            configuration: .init(processors: 6, appliesKernelEffects: false, detectsBlocking: false))
        let release = Gate()
        let names = Collected<String>()
        let stuck = QoSClass.allCases.map { qosClass in
            Task.detached(executorPreference: scheduler.executor(for: qosClass)) {
                names.append(CurrentThread.name)
                release.blockThread()
            }
        }
        while names.all.count < 5 { await Task.yield() }
        for qosClass in QoSClass.allCases {
            let ranAt = await Task.detached(executorPreference: scheduler.executor(for: qosClass)) {
                CurrentThread.qosClass
            }.escaped
            #expect(ranAt == qosClass)
        }
        let report = try await scheduler.shutdown(within: .zero)
        #expect(Set(report.abandonedWorkers).isSuperset(of: names.all))
        release.open()
        for task in stuck { await task.value }
    }

    @Test(
        "a million jobs queued behind one that holds its worker are all run", .tags(.slow, .stress),
        .timeLimit(.minutes(3)))
    func millionQueued() async throws {
        try await withScheduler(
            .init(processors: 1, workers: [.utility: 1], appliesKernelEffects: false, detectsBlocking: false)
        ) {
            scheduler in
            let (begun, release, done) = (Gate(), Gate(), Gate())
            let executor = scheduler.executor(for: .utility)
            let holder = Task(executorPreference: executor) {
                begun.open()
                release.blockThread()
            }
            await begun.passed()
            let ran = Tally()
            let total = 1_000_000
            for _ in 0..<total {
                executor.enqueue(Jobs.make(.utility) { if ran.add() == total { done.open() } })
            }
            // The others are not held up by so much that waits.
            for qosClass in QoSClass.allCases where qosClass != .utility {
                await Task(executorPreference: scheduler.executor(for: qosClass)) {}.value
            }
            #expect(ran.value == 0)
            release.open()
            await done.passed()
            await holder.value
            #expect(ran.value == total)
        }
    }

    @Test(
        "what threads enqueue during shutdown is run, each job once", .tags(.stress),
        arguments: 1...5 as ClosedRange<UInt64>)
    func enqueueDuringShutdown(_ seed: UInt64) async throws {
        let scheduler = try QoSScheduler(
            configuration: .init(processors: 2, appliesKernelEffects: false, detectsBlocking: false))
        let each = 5_000
        let ran = (0..<3).map { _ in Tally() }
        let halfway = Gate()
        let threads = try ran.indices.map { number in
            try RunningThread(name: "enqueuer-\(number)") {
                var random = SeededGenerator(seed: seed * 31 + UInt64(number))
                for index in 0..<each {
                    if number == 0, index == each / 3 { halfway.open() }
                    let qosClass = QoSClass.allCases[Int.random(in: 0..<5, using: &random)]
                    let executor = Bool.random(using: &random) ? scheduler.executor : scheduler.executor(for: qosClass)
                    executor.enqueue(Jobs.make(qosClass) { ran[number].add() })
                }
            }
        }
        await halfway.passed()
        let report = try await scheduler.shutdown(within: seed.isMultiple(of: 2) ? .zero : .milliseconds(2))
        #expect(report.isClean, "seed \(seed)")
        for thread in threads { try thread.join() }
        while ran.contains(where: { $0.value < each }) { await Task.yield() }
        #expect(ran.map(\.value) == [each, each, each], "seed \(seed)")
    }

    @Test(
        "schedulers made inside of tasks of others work, and end inside out and outside in", arguments: [true, false])
    func nested(_ innerEndsFirst: Bool) async throws {
        func descend(_ depth: Int) async throws -> [QoSClass?] {
            guard depth > 0 else { return [] }
            let scheduler = try QoSScheduler(
                configuration: .init(processors: 2, appliesKernelEffects: false, detectsBlocking: false))
            let qosClass = QoSClass.allCases[depth % 5]
            let classes = try await Task(executorPreference: scheduler.executor(for: qosClass)) {
                let inner = try await descend(depth - 1)
                await Task.yield()
                let own = CurrentThread.qosClass
                if !innerEndsFirst {
                    let isClean = try await scheduler.shutdown(within: .seconds(60)).isClean
                    #expect(isClean)
                }
                return inner + [own]
            }.value
            let isClean = try await scheduler.shutdown(within: .seconds(60)).isClean
            #expect(isClean)
            return classes
        }
        let classes = try await descend(6)
        #expect(classes.count == 6)
        for (depth, qosClass) in zip(1..., classes) {
            // Each is awaited by those above, and by this test: where it was made to wait, it may have been promoted to
            // the class of one (rules I3, I4).
            let ofExecutors = (depth...6).map { QoSClass.allCases[$0 % 5] } + [.default]
            let (lowest, highest) = (ofExecutors[0], ofExecutors.max() ?? ofExecutors[0])
            #expect(qosClass.map { (lowest...highest).contains($0) } == true, "\(depth): \(classes)")
        }
    }

    @Test(
        "affinity shrinks to one processor and grows again: the width follows, and so do bound workers", .tags(.process)
    )
    func widthFollowsAffinity() async throws {
        let ending = try await DriverProcess("width-follows").ending()
        #expect(ending.status == 0, "\(ending)")
        #expect(ending.findings["before"] == ending.findings["processors"])
        #expect(ending.findings["width"] == "1")
        #expect(ending.findings["after"] == ending.findings["processors"])
        #expect(ending.findings["nested"] == ending.findings["processors"])
        #expect(ending.findings["clean"] == "true")
    }

    @Test(
        "the control group's quota shrinks to one processor and is lifted: the width follows",
        .enabled(if: Topology.current().width > 1), arguments: [true, false])
    func widthFollowsQuota(_ canReadAffinity: Bool) async throws {
        let group = try MadeGroup()
        var configuration = QoSScheduler.Configuration(appliesKernelEffects: false, detectsBlocking: false)
        let calls = FaultInjectingSchedulingCalls()
        if !canReadAffinity { calls.deny(.getAffinity, with: EPERM) }
        configuration.schedulingCalls = calls
        configuration.fileRoot = group.root
        try await withScheduler(configuration) { scheduler in
            let isOver = Gate()
            let tasks = QoSClass.allCases.flatMap { qosClass in
                (0..<3).map { _ in
                    Task.detached(executorPreference: scheduler.executor(for: qosClass)) {
                        while !isOver.isOpen { await Task.yield() }
                    }
                }
            }
            let before = scheduler.snapshot.processors
            try group.setQuota("50000 100000")
            while scheduler.snapshot.processors != 1 { await Task.yield() }
            #expect(scheduler.snapshot.pools.allSatisfy { $0.width == 1 })
            // What cannot be read is no change.
            try group.setQuota("nonsense")
            try group.setQuota("max 100000")
            while scheduler.snapshot.processors != before { await Task.yield() }
            #expect(scheduler.snapshot.pools.first?.width == before)
            isOver.open()
            for task in tasks { await task.escaped }
        }
    }

    @Test("the process loses all processors but one while every class works, and gets them back", .tags(.process))
    func affinityShrinks() async throws {
        let ending = try await DriverProcess("affinity-shrinks").ending()
        #expect(ending.status == 0, "\(ending)")
        #expect(ending.findings["ended"] == "12000")
        #expect(ending.findings["nested"] == "true")
    }
}
