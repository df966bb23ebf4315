import Dispatch
import QoSCore
import QoSRuntimeTestSupport
import Testing

@testable import QoSRuntime

@Suite("Names in events and reports", .timeLimit(.minutes(5)))
struct NamesTests {
    private final class Observer: SchedulerObserver {
        let events = Collected<SchedulerEvent>()

        func observe(_ event: SchedulerEvent) { events.append(event) }

        /// Waits for an event for which the body has a result.
        func first<Found>(_ body: (SchedulerEvent) -> Found?) async -> Found {
            while true {
                if let found = events.all.lazy.compactMap(body).first { return found }
                await Task.yield()
            }
        }

        /// The same on a thread that must not suspend.
        func blockUntilFirst<Found>(_ body: (SchedulerEvent) -> Found?) -> Found {
            while true { if let found = events.all.lazy.compactMap(body).first { return found } }
        }
    }

    private final class Cache: Sendable {
        let mutex = QoSMutex(0, name: "cache")
    }

    private func withObserver(
        stallLimits: [QoSClass: Duration] = [:], _ body: (QoSScheduler, Observer) async throws -> Void
    ) async throws {
        let observer = Observer()
        var configuration = QoSScheduler.Configuration(
            processors: 1, appliesKernelEffects: false, detectsBlocking: false, observer: observer)
        configuration.stallLimits = stallLimits
        try await withScheduler(configuration) { try await body($0, observer) }
    }

    @Test("the runtime reads the names of waiting tasks, long and short, and none of tasks without")
    func names() {
        #expect(ConcurrencyRuntime.hasExpectedLayout && ConcurrencyRuntime.seesNames)
        let held = ConcurrencyRuntime.Holding()
        for name in ["a", String(repeating: "long ", count: 200), "ä€😀", nil] {
            let task = Task(name: name, executorPreference: held) {}
            let job = held.job.take()
            #expect(job.flatMap { ConcurrencyRuntime.name(of: $0) } == name)
            if let job { unsafe job.runSynchronously(on: held.asUnownedTaskExecutor()) }
            withExtendedLifetime(task) {}
        }
    }

    @Test("I4 a promoted task that waited is named, and so is the task that awaits it")
    func promotedWaiting() async throws {
        try await withObserver { scheduler, observer in
            let (begun, release) = (Gate(), Gate())
            let holds = scheduler.startDetachedTask(at: .background) {
                begun.open()
                release.blockThread()
            }
            await begun.passed()
            let low = scheduler.startDetachedTask(at: .background, name: "compact") {}
            let high = scheduler.startDetachedTask(at: .userInitiated, name: "request") { await low.value }
            let reason = await observer.first { event -> PromotionReason? in
                if case .promotedWaiting(_, .userInitiated, let reason) = event { reason } else { nil }
            }
            #expect(reason == .escalated(task: "compact", waiter: "request"))
            release.open()
            await high.value
            await holds.escaped
        }
    }

    @Test("I4 a promoted task that runs is named")
    func promotedRunning() async throws {
        try await withObserver { scheduler, observer in
            let (begun, release) = (Gate(), Gate())
            let low = scheduler.startDetachedTask(at: .background, name: "compact") {
                begun.open()
                release.blockThread()
            }
            await begun.passed()
            let high = scheduler.startDetachedTask(at: .userInitiated) { await low.value }
            let reason = await observer.first { event -> PromotionReason? in
                if case .promotedRunning(_, .userInitiated, let reason) = event { reason } else { nil }
            }
            #expect(reason == .escalated(task: "compact", waiter: nil))
            release.open()
            await high.value
        }
    }

    @Test("a stalled job without a label is named by its task")
    func stalled() async throws {
        try await withObserver(stallLimits: [.utility: .milliseconds(5)]) { scheduler, observer in
            let release = Gate()
            let task = scheduler.startDetachedTask(at: .utility, name: "import") { release.blockThread() }
            // The loop looks at the workers while work waits, or while they are awake.
            let label = await observer.first { event -> String?? in
                if case .jobStalled(_, _, let label, _) = event { .some(label) } else { nil }
            }
            #expect(label == "import")
            release.open()
            await task.escaped
        }
    }

    @Test("I2 a holder that is raised for a mutex: the event names the waiting task and the mutex")
    func mutex() async throws {
        let observer = Observer()
        let configuration = QoSScheduler.Configuration(
            processors: 2, appliesKernelEffects: false, detectsBlocking: false, observer: observer)
        try await withScheduler(configuration) { scheduler in
            let cache = Cache()
            let (begun, release) = (Gate(), Gate())
            let low = scheduler.startDetachedTask(at: .background, name: "compact") {
                cache.mutex.withLock { _ in
                    begun.open()
                    release.blockThread()
                }
            }
            await begun.passed()
            let high = scheduler.startDetachedTask(at: .userInitiated, name: "request") {
                cache.mutex.withLock { $0 += 1 }
            }
            let reason = await observer.first { event -> (waiter: String, name: String?)? in
                if case .promotedRunning(_, _, .lock(let waiter, let name)) = event { (waiter, name) } else { nil }
            }
            #expect(reason.waiter.hasPrefix("'request' on thread 'qos-in-"), "\(reason)")
            #expect(reason.name == "mutex 'cache'")
            let report = await observer.first { event -> InversionReport? in
                if case .inversion(let report) = event, report.kind == .blockedPoolThread { report } else { nil }
            }
            #expect(report.waiter.name.hasPrefix("'request' on thread 'qos-in-"), "\(report)")
            #expect(report.holder.name.hasPrefix("'compact' on thread 'qos-bg-"), "\(report)")
            #expect(report.resource == "mutex 'cache'")
            release.open()
            await low.escaped
            await high.escaped
        }
    }

    @Test("I2 a waiter on a queue of Dispatch is named by the queue, and not by its thread alone")
    func dispatchQueue() async throws {
        try await withObserver { scheduler, observer in
            let cache = Cache()
            let (begun, release) = (Gate(), Gate())
            let low = scheduler.startDetachedTask(at: .background) {
                cache.mutex.withLock { _ in
                    begun.open()
                    release.blockThread()
                }
            }
            await begun.passed()
            let ended = Gate()
            DispatchQueue(label: "org.example.store").async {
                cache.mutex.withLock { $0 += 1 }
                ended.open()
            }
            let waiter = await observer.first { event -> String? in
                if case .promotedRunning(_, _, .lock(let waiter, _)) = event { waiter } else { nil }
            }
            #expect(waiter.hasPrefix("'org.example.store' on thread '"), "\(waiter)")
            release.open()
            await low.escaped
            await ended.passed()
        }
    }

    // MARK: withQoS on the main actor

    @Test(
        "I4 withQoS on the main actor: the code stays there, and what it awaits is raised to the class",
        .needsKnownLayout)
    @MainActor
    func mainActor() async throws {
        try await withObserver { scheduler, _ in
            for isQueued in [true, false] {
                let (begun, release) = (Gate(), Gate())
                let holds = scheduler.startDetachedTask(at: .background) {
                    begun.open()
                    if isQueued { release.blockThread() }
                }
                await begun.passed()
                let runs = Gate()
                let low = scheduler.startDetachedTask(at: .background) {
                    runs.open()
                    while CurrentThread.qosClass != .userInitiated { await Task.yield() }
                    return CurrentThread.qosClass
                }
                if !isQueued { await runs.passed() }
                let ran = await scheduler.withQoS(.userInitiated) {
                    MainActor.assertIsolated()
                    #expect(QoS.currentLevel == .userInitiated)
                    return await low.value
                }
                #expect(ran == .userInitiated)
                release.open()
                await holds.escaped
            }
            #expect(RaisedTasks.mayHaveScopes == false)
        }
    }

    @Test(
        "withQoS on the main actor: a computation that takes too long there is told, with the task's name",
        .needsKnownLayout)
    @MainActor
    func mainActorStalls() async throws {
        try await withObserver(stallLimits: [.userInitiated: .milliseconds(20)]) { scheduler, observer in
            let stall = await Task(name: "start-up") { @MainActor in
                await scheduler.withQoS(.userInitiated) {
                    observer.blockUntilFirst { event -> (worker: WorkerIdentity, label: String?, kind: StallKind)? in
                        if case .jobStalled(let worker, _, let label, let kind) = event {
                            (worker, label, kind)
                        } else {
                            nil
                        }
                    }
                }
            }.value
            #expect(stall.worker.isOutside && stall.worker.description == "outside-in")
            #expect(stall.label == "start-up")
            #expect(stall.kind == .computing)
        }
    }
}
