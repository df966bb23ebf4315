import QoSCore
import QoSRuntimeTestSupport
import Testing

@testable import QoSRuntime

/// Tasks of a low class whose record is high from the start, so that it shows no raise.
@Suite("A raise that the record of a task does not show", .serialized, .timeLimit(.minutes(5)))
struct HiddenRaiseTests {
    private static let oneWorker = QoSScheduler.Configuration(
        processors: 2, workers: [.background: 1], appliesKernelEffects: false, detectsBlocking: false)

    /// The longest time for which a test keeps the worker of the low class: work that is not promoted runs there then.
    private static let patience = Duration.seconds(60)

    @Test(
        "I4 what a task waits for is promoted when something higher needs the task, though its record does not rise",
        .needsKnownLayout, arguments: Obstacle.allCases, Origin.allCases)
    func obstacle(_ obstacle: Obstacle, _ origin: Origin) async throws {
        for isRaised in [false, true] {
            let name = try await threadOf(obstacle, origin, isRaised: isRaised)
            #expect(name.hasPrefix("qos-in-"), "\(isRaised ? "raised" : "awaited"): \(name)")
        }
    }

    private func threadOf(_ obstacle: Obstacle, _ origin: Origin, isRaised: Bool) async throws -> String {
        try await withScheduler(Self.oneWorker) { scheduler in
            let way = LowWay(scheduler)
            let prepared = try await obstacle.prepare(way)
            let subject = origin.start(on: scheduler) { await prepared.wait() }
            await way.busy.passed()
            prepared.enterQueue()
            while !Self.isQueued(scheduler) { await Task.yield() }
            // Not earlier: beside other tests, this one may come late to all of the above.
            let guardian = Task.detached(priority: .userInteractive) {
                try? await Task.sleep(for: Self.patience)
                way.release.open()
            }
            if isRaised {
                scheduler.raise(subject, to: .userInitiated)
            } else {
                let high = scheduler.executor(for: .userInitiated)
                await Task.detached(executorPreference: high, priority: .userInitiated) { await subject.value }.value
            }
            await subject.value
            way.release.open()
            guardian.cancel()
            return way.names.all.first ?? "nothing ran"
        }
    }

    private static func isQueued(_ scheduler: QoSScheduler) -> Bool {
        scheduler.snapshot.pools.contains { $0.qosClass == .background && $0.queued > 0 }
    }

    @Test(
        "B6 code within withQoS has the level of a waiter of its task, though the task's record does not rise",
        .needsKnownLayout)
    func level() async throws {
        try await withScheduler { scheduler in
            let (begun, high) = (Gate(), scheduler.executor(for: .userInitiated))
            let subject = Task.detached(executorPreference: high, priority: .userInitiated) {
                await scheduler.withQoS(.background) {
                    let before = QoS.currentLevel
                    begun.open()
                    while QoS.currentLevel == before { await Task.yield() }
                    return [before, QoS.currentLevel]
                }
            }
            await begun.passed()
            let waiter = Task.detached(executorPreference: high, priority: .userInitiated) { await subject.value }
            #expect(await waiter.value == [.background, .userInitiated])
        }
    }

    @Test(
        "I4 a low waiter does not hide a high one that came before it, nor one that waits for a waiter",
        .needsKnownLayout)
    func waiters() async throws {
        try await withScheduler { scheduler in
            let held = HeldJob()
            let awaited = Task.detached(executorPreference: held) {}
            let job = try #require(held.job)
            let task = TaskAddress(rawValue: JobNode(job).address)
            let low = Origin.executor.start(on: scheduler) { await awaited.value }
            await isAwaited(task, atLeast: .background)
            #expect(ConcurrencyRuntime.classNeeding(task: task) == .background)
            let higher = waiter(for: low, at: .userInteractive, on: scheduler)
            await isAwaited(task, atLeast: .userInteractive)
            let direct = waiter(for: awaited, at: .userInitiated, on: scheduler)
            let lowest = Origin.executor.start(on: scheduler) { await awaited.value }
            await isAwaited(task, atLeast: .userInteractive)
            held.run()
            for task in [low, higher, direct, lowest] { await task.value }
        }
    }

    private func waiter(
        for task: Task<Void, Never>, at qosClass: QoSClass, on scheduler: QoSScheduler
    ) -> Task<Void, Never> {
        Task.detached(executorPreference: scheduler.executor(for: qosClass), priority: TaskPriority(qosClass)) {
            await task.value
        }
    }

    /// Returns once a task is needed at a class.
    private func isAwaited(_ task: TaskAddress, atLeast qosClass: QoSClass) async {
        while true {
            if let needed = ConcurrencyRuntime.classNeeding(task: task), needed >= qosClass { return }
            await Task.yield()
        }
    }
}

/// The background of a scheduler with one worker of that class.
struct LowWay: Sendable {
    let scheduler: QoSScheduler
    /// Open once the worker is kept.
    let busy = Gate()
    /// Lets the worker go.
    let release = Gate()
    /// The threads on which what the task waits for has run.
    let names = Collected<String>()

    init(_ scheduler: QoSScheduler) { self.scheduler = scheduler }

    /// Keeps the worker as soon as it comes to it.
    func startHog() {
        start { [busy, release] in
            busy.open()
            release.blockThread()
        }
    }

    @discardableResult
    func start(_ body: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
        Task.detached(executorPreference: scheduler.executor(for: .background), priority: .background, operation: body)
    }

    func report() { names.append(CurrentThread.name) }
}

/// What a task waits for, while it stands in the queue of the background.
enum Obstacle: CaseIterable {
    case groupChild, discardingGroupChild, asyncLet, task, mutex, semaphore, queue, item

    struct Prepared: Sendable {
        let wait: @Sendable () async -> Void
        /// Lets what the task waits for come into the queue, once the worker is kept.
        var enterQueue: @Sendable () -> Void = {}
    }

    func prepare(_ way: LowWay) async throws -> Prepared {
        switch self {
        case .groupChild, .discardingGroupChild, .asyncLet, .task: Prepared { await waitForTask(way) }
        case .mutex, .semaphore: try await prepareLock(way)
        case .queue, .item: try prepareQueue(way)
        }
    }

    /// On a queue that is suspended until the worker is kept.
    private func prepareQueue(_ way: LowWay) throws -> Prepared {
        let queue = way.scheduler.makeQueue("queue")
        try queue.suspend()
        let isItem = self == .item
        return Prepared {
            way.startHog()
            guard isItem else {
                try? await queue.run(level: .background) { way.report() }
                return
            }
            let item = WorkItem(level: .background) { way.report() }
            try? queue.async(item)
            await item.waitUntilFinished()
        } enterQueue: {
            try? queue.resume()
        }
    }

    /// The last job of a worker may go first, so a hog stands on each side of the child.
    private func waitForTask(_ way: LowWay) async {
        way.startHog()
        switch self {
        case .groupChild:
            await withTaskGroup { group in
                group.addTask { way.report() }
                way.startHog()
            }
        case .discardingGroupChild:
            await withDiscardingTaskGroup { group in
                group.addTask { way.report() }
                way.startHog()
            }
        case .asyncLet:
            async let child: Void = way.report()
            way.startHog()
            await child
        default:
            let task = way.start { way.report() }
            way.startHog()
            await task.value
        }
    }

    private func prepareLock(_ way: LowWay) async throws -> Prepared {
        let (mutex, semaphore) = (AsyncMutex(()), try AsyncSemaphore(permits: 1))
        let isMutex = self == .mutex
        let locked: @Sendable (@escaping @Sendable () async -> Void) async -> Void = { body in
            if isMutex {
                try? await mutex.withLock { _ in await body() }
            } else {
                try? await semaphore.withPermit { await body() }
            }
        }
        let (held, goOn) = (Gate(), Gate())
        way.start {
            await locked {
                held.open()
                await goOn.passed()
                way.report()
            }
        }
        await held.passed()
        return Prepared {
            way.startHog()
            await locked {}
        } enterQueue: {
            goOn.open()
        }
    }
}
