import Foundation
import QoSCore
import QoSEventLoop
import QoSKernel
import QoSRuntimeTestSupport
import Testing

@testable import QoSRuntime

@Suite("What a scheduler tells about itself", .timeLimit(.minutes(5)))
struct ObservationTests {
    private final class Observer: SchedulerObserver {
        let events = Collected<SchedulerEvent>()

        func observe(_ event: SchedulerEvent) { events.append(event) }

        struct Promotion: Equatable {
            let qosClass: QoSClass
            let reason: PromotionReason

            init(_ qosClass: QoSClass, _ reason: PromotionReason) {
                (self.qosClass, self.reason) = (qosClass, reason)
            }
        }

        /// Those of what runs.
        var promotions: [Promotion] {
            events.all.compactMap { event in
                if case .promotedRunning(_, let qosClass, let reason) = event { .init(qosClass, reason) } else { nil }
            }
        }

        var stalls: [(worker: WorkerIdentity, duration: Duration, label: String?, kind: StallKind)] {
            events.all.compactMap { event in
                if case .jobStalled(let worker, let duration, let label, let kind) = event {
                    (worker, duration, label, kind)
                } else {
                    nil
                }
            }
        }
    }

    private func pool(_ scheduler: QoSScheduler, _ qosClass: QoSClass) -> SchedulerSnapshot.Pool {
        scheduler.snapshot.pools[QoSClass.userInteractive.rank - qosClass.rank]
    }

    @Test("each field of the snapshot stands in Docs/Observation.md, and nothing else does")
    func documented() async throws {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        let page = try String(
            contentsOf: folder.appendingPathComponent("../../../Docs/Observation.md").standardized, encoding: .utf8)
        let tables = page.components(separatedBy: "## Events")[0]
        let documented = tables.split(separator: "\n").filter { $0.hasPrefix("| `") }.map { line in
            String(line.dropFirst(3).prefix { $0 != "`" })
        }
        let group = try MadeGroup()
        try group.setQuota("50000 100000")
        var configuration = QoSScheduler.Configuration(processors: 1, appliesKernelEffects: false)
        configuration.fileRoot = group.root
        let snapshot = try await withScheduler(configuration) { $0.snapshot }
        let pool = try #require(snapshot.pools.first)
        let quota = try #require(snapshot.quota)
        let fields = [Mirror(reflecting: snapshot), Mirror(reflecting: pool), Mirror(reflecting: quota)].flatMap {
            // Durations are stored as numbers, under names with their unit.
            $0.children.compactMap { $0.label?.replacing("Nanoseconds", with: "") }
        }
        #expect(documented.sorted() == fields.sorted())
    }

    @Test("S5 the background activities stand in the snapshot, of all their schedulers that are there")
    func activities() async throws {
        try await withScheduler { scheduler in
            let first = BackgroundActivityScheduler(on: scheduler)
            var second: BackgroundActivityScheduler? = BackgroundActivityScheduler(on: scheduler)
            try first.schedule(BackgroundActivity("scrub", .every(.seconds(3600)))) { _ in .finished }
            try second?.schedule(BackgroundActivity("index", .every(.seconds(3600)))) { _ in .finished }
            #expect(scheduler.snapshot.activities.map(\.activity.identifier) == ["index", "scrub"])
            second = nil
            #expect(scheduler.snapshot.activities.map(\.activity.identifier) == ["scrub"])
            let text = try String(decoding: JSONEncoder().encode(scheduler.snapshot), as: UTF8.self)
            #expect(text.contains("scrub"))
        }
    }

    @Test("the age of the oldest waiting job, and the longest so far", arguments: QoSClass.allCases)
    func queueDelay(_ qosClass: QoSClass) async throws {
        let configuration = QoSScheduler.Configuration(
            processors: 1, appliesKernelEffects: false, detectsBlocking: false)
        try await withScheduler(configuration) { scheduler in
            #expect(pool(scheduler, qosClass).oldestWait == .zero)
            let executor = scheduler.executor(for: qosClass)
            let (begun, release) = (Gate(), Gate())
            let start = ContinuousClock.now
            let held = Task.detached(executorPreference: executor) {
                begun.open()
                // Queued by the worker itself, so that it is in its queue and nowhere else.
                _ = Task.detached(executorPreference: executor) {}
                _ = Task.detached(executorPreference: executor) {}
                release.blockThread()
            }
            await begun.passed()
            while pool(scheduler, qosClass).oldestWait < .milliseconds(5) { await Task.yield() }
            let seen = pool(scheduler, qosClass).oldestWait
            #expect(seen <= ContinuousClock.now - start)
            release.open()
            await held.escaped
            while pool(scheduler, qosClass).oldestWait > .zero { await Task.yield() }
            #expect(pool(scheduler, qosClass).longestWait >= max(seen, .milliseconds(5)))
        }
    }

    @Test("the entries into admission, the turns and the looks of the loop are counted")
    func loopCounters() async throws {
        let configuration = QoSScheduler.Configuration(
            processors: 1, appliesKernelEffects: false, detectsBlocking: false)
        try await withScheduler(configuration) { scheduler in
            #expect(scheduler.snapshot.looks == 0)
            let executor = scheduler.executor(for: .background)
            await Task.detached(executorPreference: executor) {}.value
            let begin = scheduler.snapshot
            // The worker was admitted, and the loop started its thread.
            #expect(begin.admissionEntries > 0)
            #expect(begin.loopTurns > 0)
            let release = Gate()
            let held = Task.detached(executorPreference: executor) { release.blockThread() }
            let queued = Task.detached(executorPreference: executor) {}
            // A job waits behind a busy worker, so the loop looks.
            while scheduler.snapshot.looks == begin.looks { await Task.yield() }
            release.open()
            await held.value
            await queued.value
            #expect(scheduler.snapshot.loopTurns > begin.loopTurns)
        }
    }

    @Test("a job over its class's limit is counted and reported once, with its worker and its label")
    func stalls() async throws {
        let observer = Observer()
        var configuration = QoSScheduler.Configuration(
            processors: 2, appliesKernelEffects: false, detectsBlocking: false, observer: observer)
        configuration.stallLimits = [.utility: .milliseconds(10), .background: .milliseconds(10)]
        try await withScheduler(configuration) { scheduler in
            let isOver = Gate()
            let task = Task.detached(executorPreference: scheduler.executor(for: .utility)) {
                QoS.withLabel("outer") {
                    QoS.withLabel("compress") { while !isOver.isOpen {} }
                }
            }
            let queue = scheduler.makeQueue("indexer", level: .background)
            queue.async { while !isOver.isOpen {} }
            while observer.stalls.count < 2 { await Task.yield() }
            // Two more looks: it is told once for each job.
            for _ in 0..<2 {
                let looked = Gate()
                try scheduler.core.loop.submit {
                    scheduler.core.group.lookAtWorkers(at: MonotonicClock.nanoseconds())
                    looked.open()
                }
                await looked.passed()
            }
            #expect(Set(observer.stalls.map(\.worker.description)) == ["qos-ut-0", "qos-bg-0"])
            #expect(observer.stalls.first { $0.worker.qosClass == .utility }?.label == "compress")
            #expect(observer.stalls.first { $0.worker.qosClass == .background }?.label == "indexer")
            #expect(observer.stalls.allSatisfy { $0.duration >= .milliseconds(10) })
            #expect(observer.stalls.allSatisfy { $0.kind == .computing })
            #expect(observer.stalls.count == 2)
            #expect(scheduler.snapshot.stalls == 2)
            #expect(pool(scheduler, .utility).stalls == 1)
            #expect(pool(scheduler, .default).stalls == 0)
            isOver.open()
            await task.escaped
        }
    }

    @Test("a stalled job whose thread sleeps is reported as blocked, not as computing")
    func blockedStall() async throws {
        let observer = Observer()
        var configuration = QoSScheduler.Configuration(
            processors: 2, appliesKernelEffects: false, detectsBlocking: false, observer: observer)
        configuration.stallLimits = [.utility: .milliseconds(10)]
        try await withScheduler(configuration) { scheduler in
            let gate = Gate()
            let task = Task.detached(executorPreference: scheduler.executor(for: .utility)) { gate.blockThread() }
            while observer.stalls.isEmpty { await Task.yield() }
            #expect(observer.stalls.map(\.kind) == [.blocked])
            gate.open()
            await task.escaped
        }
    }

    @Test("a limit of zero or less is refused, and the error says what would do")
    func stallLimits() throws {
        var configuration = QoSScheduler.Configuration(appliesKernelEffects: false)
        configuration.stallLimits = [.utility: .zero]
        let error = try #require(throws: QoSRuntimeError.self) { try QoSScheduler(configuration: configuration) }
        #expect("\(error)".contains("use more than zero"))
    }

    @Test("a label outside of a scheduler changes nothing")
    func labelElsewhere() {
        #expect(QoS.withLabel("nothing") { 5 } == 5)
    }

    @Test("threads that stood in are counted, and their run time is kept when they have ended")
    func standIns() async throws {
        try await withScheduler(.init(processors: 1, appliesKernelEffects: false)) { scheduler in
            let executor = scheduler.executor(for: .utility)
            await withTaskGroup { group in
                for _ in 0..<4 {
                    group.addTask(executorPreference: executor) {
                        let release = Gate()
                        QoS.withBlocking {
                            // What lets it go on needs a worker of the class.
                            Task.detached(executorPreference: executor) { release.open() }
                            release.blockThread()
                        }
                    }
                }
            }
            #expect(pool(scheduler, .utility).standIns >= 1)
            let used = pool(scheduler, .utility).processorTime
            while pool(scheduler, .utility).workers > 1 { await Task.yield() }
            #expect(pool(scheduler, .utility).processorTime >= used)
        }
    }

    @Test("a promotion is counted by its kind")
    func kinds() async throws {
        try await withScheduler(.init(processors: 1, appliesKernelEffects: false, detectsBlocking: false)) {
            scheduler in
            let (begun, isOver) = (Gate(), Gate())
            let running = Task.detached(executorPreference: scheduler.executor, priority: .background) {
                begun.open()
                while !isOver.isOpen {}
            }
            await begun.passed()
            scheduler.raise(running, to: .userInitiated)
            while scheduler.snapshot.runningPromoted == 0 { await Task.yield() }
            isOver.open()
            await running.escaped
            // Without effects there are only fences.
            #expect(pool(scheduler, .background).raisedByFence == 1)
            #expect(pool(scheduler, .background).raisedByEffects == 0)
            #expect(pool(scheduler, .background).raisedForLock == 0)
        }
    }

    @Test("a promotion is told with its reason and, where it is known, by whom")
    func reasons() async throws {
        let observer = Observer()
        let configuration = QoSScheduler.Configuration(
            processors: 1, appliesKernelEffects: false, detectsBlocking: false, observer: observer)
        try await withScheduler(configuration) { scheduler in
            let (begun, isOver) = (Gate(), Gate())
            let queue = scheduler.makeQueue("indexer")
            queue.async(level: .background) {
                begun.open()
                while !isOver.isOpen {}
            }
            await begun.passed()
            queue.async(level: .userInitiated) {}
            while observer.promotions.isEmpty { await Task.yield() }
            #expect(observer.promotions == [.init(.userInitiated, .queue("indexer"))])
            isOver.open()
            try await queue.run {}
        }
    }

    @Test("a waiting task that is raised is told with the thread that raised it")
    func raiser() async throws {
        let observer = Observer()
        let configuration = QoSScheduler.Configuration(
            processors: 1, appliesKernelEffects: false, detectsBlocking: false, observer: observer)
        // A scheduler that comes while other tests have all the numbers leaves it to the loop. And the loop may be the
        // first to find the task, between its escalation and the move: it does not know who raised it.
        var name: String?
        while name == nil {
            name = try await withScheduler(configuration) { scheduler in
                scheduler.core.group.number == 0 ? nil : try await raisesOne(scheduler, observer)
            }
        }
        #expect(name?.contains("'raiser'") == true)
    }

    /// Raises a waiting task.
    ///
    /// - Returns: the name of the raiser, as the observer was told; `nil` if the loop was the first to find the task.
    private func raisesOne(_ scheduler: QoSScheduler, _ observer: Observer) async throws -> String? {
        let before = observer.events.all.count
        let executor = scheduler.executor(for: .background)
        let (begun, release) = (Gate(), Gate())
        let waiting = Collected<Task<Void, Never>>()
        let held = Task.detached(executorPreference: executor, priority: .background) {
            // Queued by the worker itself, so that it is in its queue and nowhere else.
            waiting.append(Task.detached(executorPreference: executor, priority: .background) {})
            begun.open()
            release.blockThread()
        }
        await begun.passed()
        let thread = try RunningThread(name: "raiser") {
            scheduler.raise(waiting.all[0], to: .userInitiated)
        }
        try thread.join()
        func reasons() -> [PromotionReason] {
            observer.events.all.dropFirst(before).compactMap { event in
                if case .promotedWaiting(from: .background, to: .userInitiated, let reason) = event {
                    reason
                } else {
                    nil
                }
            }
        }
        while reasons().isEmpty { await Task.yield() }
        release.open()
        await held.escaped
        #expect(reasons().count == 1)
        return if case .raised(let name)? = reasons().first { name } else { nil }
    }
}
