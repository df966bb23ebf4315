import CQoSTestSupport
import Dispatch
import Foundation
import Glibc
import QoSCore
import QoSKernel
import QoSOperations
import QoSRuntime

extension Scenario {
    private struct Broken: Error, CustomStringConvertible {
        let description = "it is broken on purpose"
    }

    /// Runs an activity that keeps the machine awake, until the process is killed.
    private func keepsAwake() async throws {
        try await QoS.performActivity(.idleSleepDisabled, reason: "the test") {
            Driver.say("awake", QoS.idleSleepInhibition)
            try await Task.sleep(for: .seconds(3_600))
        }
    }

    /// The program's body.
    func body() async throws {
        switch self {
        case .mainActor: await mainActor()
        case .pools: await pools()
        case .dispatchMain: await dispatchMain()
        case .dispatchOrder, .dispatchBeforeRun: await dispatchOrder()
        case .busyMainActor: await busyMainActor()
        case .sleepOnMainActor: try await sleepOnMainActor()
        case .manyOnMainActor: await manyOnMainActor()
        case .libraryClocks: try await libraryClocks()
        case .otherScheduler: try await otherScheduler()
        case .affinityShrinks: try await affinityShrinks()
        case .widthFollows: try await widthFollows()
        case .holdsTheEnd, .holdsForever: await holds(isForever: self == .holdsForever)
        case .guests: try await GuestTable.runInProcess()
        case .sleepsBesideBlockedDefault, .bodyOnMainActor, .guestChild, .guestChildWithoutNice: break
        case .serviceKind, .interactiveKind: await kind()
        case .busyActor: await busyActor()
        case .raisedOnMainActor: await raisedOnMainActor()
        case .waitingStates: await waitingStates()
        case .runningChildren: await runningChildren()
        case .manyHiddenWaits: try await manyHiddenWaits()
        case .hiddenWaitsUnderLoad: try await HiddenLoad().run(seed: UInt64(Driver.number))
        case .keepsAwake: try await keepsAwake()
        case .printsForever: printForever()
        case .isProfiled: await beProfiled()
        case .crashes: await crash()
        case .ignoredAtStart: await tellIgnored()
        case .fewThreads: await workWithFewThreads()
        case .locksTwice: lockTwice()
        case .locksInCircle: try lockInCircle()
        case .manySchedulers: try makeManySchedulers()
        case .cancelledSleeps: await cancelledSleeps()
        case .isDiagnosed: try await beDiagnosed()
        case .returns, .invalidConfiguration: Driver.say("body", "ran")
        case .taskBeforeRun: await taskBeforeRun()
        case .throwsError: throw Broken()
        case .throwsStatus: throw QoSProcess.ExitStatus(UInt8(clamping: Driver.number))
        case .exitsInBody: exit(Int32(Driver.number))
        case .printsWithoutNewline: print("flushed", terminator: "")
        case .runsTwice: QoSProcess.run {}
        case .shutsDown: try await QoSProcess.scheduler?.shutdown()
        case .waitsForSignal, .cleansUpAfterSignal, .signalsItselfAtOnce, .ignoresSignals, .signalWhileMainActorIsBusy,
            .leavesSignalsAlone,
            .blockedSignals, .clampedUntilSignal:
            try await signals()
        }
    }

    private func mainActor() async {
        Driver.say("first", await MainActor.run { isMainThread })
        await Task.yield()
        Driver.say("second", await MainActor.run { isMainThread })
        Driver.say("isolated", await MainActor.run { MainActor.assumeIsolated { isMainThread } })
        let fromTask = await Task { @MainActor in
            let before = isMainThread
            await Task.yield()
            try? await Task.sleep(for: .milliseconds(1))
            return before && isMainThread
        }.value
        Driver.say("task", fromTask)
        Driver.say("body", isMainThread)
    }

    /// The body of a program that relies on the main actor, as an asynchronous `main` may.
    @MainActor
    static func bodyOnMainActor() async throws {
        MainActor.preconditionIsolated()
        let counter = Counter()
        Driver.say("first", isMainThread)
        try await Task.sleep(for: .milliseconds(1))
        counter.count += 1
        Driver.say("after-sleep", isMainThread)
        await Task.detached { Driver.say("detached", isMainThread) }.value
        MainActor.preconditionIsolated()
        Driver.say("count", counter.count)
        throw QoSProcess.ExitStatus(3)
    }

    private func kind() async {
        Driver.say("kind", QoSProcess.kind)
        Driver.say("body", QoS.currentLevel?.description ?? "none")
        for (name, priority) in [("plain", TaskPriority.medium), ("utility", .utility)] {
            let context = await withCheckedContinuation { continuation in
                // Awaiting the task itself would raise it.
                Task.detached(priority: priority) {
                    continuation.resume(returning: await MainActor.run { ExecutionContext.current })
                }
            }
            Driver.say(name, context.level?.description ?? "none")
            Driver.say("\(name)-inferred", context.inferredLevel?.description ?? "none")
        }
        let onMainThread = await withCheckedContinuation { continuation in
            DispatchQueue.main.async { continuation.resume(returning: QoS.currentLevel) }
        }
        Driver.say("main-thread", onMainThread?.description ?? "none")
        let operation = await MainActor.run { QoSOperation {}.effectiveLevel }
        Driver.say("operation", operation?.description ?? "none")
    }

    private func taskBeforeRun() async {
        Driver.say("main", await MainActor.run { isMainThread })
        Driver.say("body", threadName)
        Driver.say("task", await Task { threadName }.value)
        // Nobody says that it gets a thread before the process ends.
        for await _ in Self.earlyTaskEnded.stream {}
    }

    private func pools() async {
        Driver.say("body", threadName)
        for qosClass in QoSClass.allCases {
            let name = await withCheckedContinuation { continuation in
                // Awaiting the task itself would raise it.
                Task.detached(priority: qosClass.taskPriority) { continuation.resume(returning: threadName) }
            }
            Driver.say("\(qosClass.abbreviation)", name)
        }
        actor Plain {
            func name() -> String { threadName }
        }
        Driver.say("actor", await Plain().name())
        async let child = threadName
        Driver.say("child", await child)
    }

    private func dispatchMain() async {
        let isMain = await withCheckedContinuation { continuation in
            DispatchQueue.main.async {
                let isMain = isMainThread
                DispatchQueue.main.asyncAfter(deadline: .now() + .milliseconds(5)) {
                    DispatchQueue.global().async {
                        DispatchQueue.main.async { continuation.resume(returning: isMain && isMainThread) }
                    }
                }
            }
        }
        Driver.say("main", isMain)
        let counter = Counter()
        let count = await withCheckedContinuation { continuation in
            for _ in 0..<1_000 {
                DispatchQueue.main.async {
                    counter.count += 1
                    if counter.count == 1_000 { continuation.resume(returning: counter.count) }
                }
            }
        }
        Driver.say("blocks", count)
    }

    /// Submits jobs of the main actor and blocks of the main queue in turns, from the pool, from the main thread, and from
    /// blocks and jobs. Prints whether they ran in the order of their submission.
    private func dispatchOrder() async {
        let outside = OrderedNotes()
        for number in 0..<200 { outside.submit(number, inBlock: number % 3 == 1) }
        Driver.say("outside", await outside.isInOrder(200))
        let inside = OrderedNotes()
        await MainActor.run { for number in 0..<200 { inside.submit(number, inBlock: number % 2 == 1) } }
        Driver.say("inside", await inside.isInOrder(200))
        let nested = OrderedNotes()
        DispatchQueue.main.async {
            nested.submit(0, inBlock: false)
            nested.submit(1, inBlock: true) {
                nested.submit(4, inBlock: false)
                nested.submit(5, inBlock: true)
            }
            nested.submit(2, inBlock: false) {
                nested.submit(6, inBlock: true)
                nested.submit(7, inBlock: false)
            }
            nested.submit(3, inBlock: true)
        }
        Driver.say("nested", await nested.isInOrder(8))
    }

    /// Numbers in the order in which the main thread came to them.
    private final class OrderedNotes: Sendable {
        private let numbers = Lock<[Int]>([])
        private let all = AsyncStream.makeStream(of: Void.self)

        func submit(_ number: Int, inBlock: Bool, then next: @escaping @Sendable () -> Void = {}) {
            if inBlock {
                DispatchQueue.main.async { [self] in note(number, next) }
            } else {
                Task { @MainActor in note(number, next) }
            }
        }

        private func note(_ number: Int, _ next: @Sendable () -> Void) {
            numbers.withLock { $0.append(number) }
            next()
            all.continuation.yield()
        }

        func isInOrder(_ count: Int) async -> Bool {
            for await _ in all.stream where numbers.withLock({ $0.count }) == count { break }
            let seen = numbers.withLock { $0 }
            if seen != Array(0..<count) { Driver.say("order", seen) }
            return seen == Array(0..<count)
        }
    }

    /// Cancels many sleeps of an hour, and prints what each of them has left in memory, in bytes.
    private func cancelledSleeps() async {
        let count = max(1, Driver.number / 1_000)
        for _ in 0..<20 { await Self.cancelThousandSleeps() }
        let before = cqos_test_allocated()
        for _ in 0..<count { await Self.cancelThousandSleeps() }
        // On a busy machine the loop may not have come to the last of them. What stays is left.
        var left = Int.max
        for _ in 0..<200 where left >= 100 {
            left = max(0, Int(cqos_test_allocated()) - Int(before)) / (count * 1_000)
            try? await Task.sleep(for: .milliseconds(10))
        }
        Driver.say("bytes", left)
    }

    private static func cancelThousandSleeps() async {
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<1_000 { group.addTask { try? await Task.sleep(for: .seconds(3_600)) } }
            // They are queued before this task comes back, so most of them sleep by then.
            for _ in 0..<20 { await Task.yield() }
            group.cancelAll()
        }
    }

    private func busyMainActor() async {
        let slept = DispatchSemaphore(value: 0)
        let sleeper = Task.detached {
            for _ in 0..<10 { try await Task.sleep(for: .milliseconds(2)) }
            slept.signal()
        }
        // Comes back only if the pools' timers fire while the main thread is blocked.
        await MainActor.run { slept.wait() }
        Driver.say("slept", (try? await sleeper.value) != nil)
    }

    private func sleepOnMainActor() async throws {
        let outcomes = try await Task { @MainActor in
            var outcomes: [Bool] = []
            for _ in 0..<5 {
                let start = ContinuousClock.now
                try await Task.sleep(for: .milliseconds(3))
                outcomes.append(ContinuousClock.now - start >= .milliseconds(3) && isMainThread)
            }
            return outcomes
        }.value
        Driver.say("slept", outcomes.allSatisfy { $0 })
    }

    private func manyOnMainActor() async {
        let counter = Counter()
        await withTaskGroup { group in
            for index in 0..<2_000 {
                group.addTask(priority: QoSClass.allCases[index % 5].taskPriority) {
                    await MainActor.run { counter.count += 1 }
                }
            }
        }
        Driver.say("count", await counter.count)
    }

    @MainActor
    private final class Counter {
        var count = 0
        nonisolated init() {}
    }

    private func libraryClocks() async throws {
        let isLongEnough = try await withThrowingTaskGroup(of: Bool.self) { group in
            for index in 0..<200 {
                group.addTask(priority: QoSClass.allCases[index % 5].taskPriority) {
                    let duration = Duration.microseconds(index * 50)
                    let slept = try await ContinuousClock().measure { try await Task.sleep(for: duration) }
                    return slept >= duration
                }
            }
            return try await group.reduce(true) { $0 && $1 }
        }
        Driver.say("slept", isLongEnough)
    }

    private func otherScheduler() async throws {
        let scheduler = try QoSScheduler(configuration: .init(processors: 1))
        let task = Task(executorPreference: scheduler.executor(for: .utility)) {
            let before = threadName
            try await scheduler.shutdown()
            return [before, threadName]
        }
        Driver.say("names", try await task.value.joined(separator: ","))
    }
}

/// Whether the calling thread is the process's first: its kernel id is the process's.
var isMainThread: Bool {
    getpid() == ThreadID.current.rawValue && Foundation.Thread.isMainThread
}

/// The calling thread's name, as the kernel has it.
var threadName: String {
    (try? String(contentsOfFile: "/proc/thread-self/comm", encoding: .utf8))?
        .trimmingCharacters(in: .newlines) ?? "unknown"
}
