import QoSCore
import QoSKernelTestSupport
import QoSRuntimeTestSupport
import Testing

@testable import QoSRuntime

@Suite("run(at:)", .timeLimit(.minutes(5)))
struct RunningAtClassTests {
    private struct Refused: Error, Equatable {
        let code: Int
    }

    /// An operation's view of itself at its end.
    private struct Sight: Sendable, Equatable {
        let pool: QoSClass?
        let priority: TaskPriority
        let level: QoSLevel?

        static func now() -> Sight {
            Sight(pool: CurrentThread.qosClass, priority: Task.currentPriority, level: QoS.currentLevel)
        }
    }

    /// Calls from within an actor.
    private actor Caller {
        func poolOfOperation(_ scheduler: QoSScheduler) async -> QoSClass? {
            let pool = await scheduler.run(at: .utility) { CurrentThread.qosClass }
            assertIsolated()
            return pool
        }
    }

    private enum LocalValue {
        @TaskLocal static var number = 0
    }

    // MARK: Results

    @Test(
        "C4 O1 the operation runs in the pool of its class, with its priority and level", arguments: QoSClass.allCases)
    func runs(_ qosClass: QoSClass) async throws {
        try await withScheduler { scheduler in
            let sight = await scheduler.run(at: qosClass) { Sight.now() }
            #expect(sight == Sight(pool: qosClass, priority: TaskPriority(qosClass), level: QoSLevel(qosClass)))
        }
    }

    @Test("throws what its operation throws, by its type", arguments: [false, true])
    func throwing(promotes: Bool) async throws {
        try await withScheduler { scheduler in
            do throws(Refused) {
                try await scheduler.run(at: .utility, promotes: promotes) { () async throws(Refused) in
                    throw Refused(code: 7)
                }
                Issue.record("nothing was thrown")
            } catch {
                #expect(error == Refused(code: 7))
            }
        }
    }

    @Test("comes back to the actor that calls it")
    func isolation() async throws {
        try await withScheduler { scheduler in
            #expect(await Caller().poolOfOperation(scheduler) == .utility)
        }
    }

    // MARK: Cancellation

    @Test("cancelling the caller cancels the operation, and its end is waited for", arguments: [false, true])
    func cancellation(promotes: Bool) async throws {
        try await withScheduler { scheduler in
            let begun = Gate()
            let caller = Task.detached {
                await scheduler.run(at: .background, promotes: promotes) {
                    begun.open()
                    while !Task.isCancelled { await Task.yield() }
                    for _ in 0..<20 { await Task.yield() }
                    return "ended in order"
                }
            }
            await begun.passed()
            caller.cancel()
            #expect(await caller.value == "ended in order")
        }
    }

    @Test("the operation of a cancelled caller runs, and is cancelled from its first line", arguments: [false, true])
    func cancelledBefore(promotes: Bool) async throws {
        try await withScheduler { scheduler in
            let calls = Gate()
            let caller = Task.detached {
                await calls.passed()
                return await scheduler.run(at: .background, promotes: promotes) { Task.isCancelled }
            }
            caller.cancel()
            calls.open()
            #expect(await caller.value)
        }
    }

    // MARK: Level and context

    @Test(
        "B6 S8 X1 the operation submits with its class in any scope, and has the caller's activity and task-local values"
    )
    func scopes() async throws {
        try await withScheduler { scheduler in
            let queue = scheduler.makeQueue("infers", .concurrent)
            let seen = try await LocalValue.$number.withValue(7) {
                try await QoS.performActivity(.userInitiated, reason: "request") {
                    try await scheduler.withQoS(.userInitiated) {
                        try await scheduler.run(at: .background) {
                            let item = try await queue.run { QoS.currentLevel }
                            return (QoS.currentLevel, item, QoS.activity?.reason, LocalValue.number)
                        }
                    }
                }
            }
            #expect(seen.0 == .background && seen.1 == .background, "\(seen)")
            #expect(seen.2 == "request" && seen.3 == 7, "\(seen)")
        }
    }

    // MARK: Promotion

    /// Calls at userInitiated, within an activity, whose level is not to count.
    private func call<Success: Sendable>(
        _ scheduler: QoSScheduler, promotes: Bool, begun: Gate = Gate(),
        _ operation: @escaping @Sendable () async -> Success
    ) -> Task<Success, Never> {
        scheduler.startDetachedTask(at: .userInitiated) {
            await QoS.performActivity(.userInitiated, reason: "call") {
                begun.open()
                return await scheduler.run(at: .background, promotes: promotes, operation: operation)
            }
        }
    }

    @Test(
        "I4 run(at:) promotes a queued operation that a higher task waits for, only if it says so",
        .needsKnownLayout)
    func queued() async throws {
        // One worker of userInitiated: the second call begins when the first one waits.
        let configuration = QoSScheduler.Configuration(
            processors: 2, workers: [.background: 1, .userInitiated: 1], appliesKernelEffects: false,
            detectsBlocking: false)
        try await withScheduler(configuration) { scheduler in
            let (busy, release, calls) = (Gate(), Gate(), Gate())
            scheduler.startDetachedTask(at: .background) {
                busy.open()
                release.blockThread()
            }
            await busy.passed()
            let quiet = call(scheduler, promotes: false, begun: calls) { Sight.now() }
            await calls.passed()
            // It stands behind the first one, so that a look that finds it has seen both.
            let promoted = await call(scheduler, promotes: true) { Sight.now() }.value
            #expect(promoted == Sight(pool: .userInitiated, priority: .high, level: .userInitiated))
            release.open()
            #expect(await quiet.value == Sight(pool: .background, priority: .background, level: .background))
        }
    }

    @Test(
        "I4 run(at:) raises a running operation whose caller is raised, only if it says so", .needsKnownLayout,
        arguments: [SimulatedSchedulingCalls.Rights.all, .none])
    func running(rights: SimulatedSchedulingCalls.Rights) async throws {
        var configuration = QoSScheduler.Configuration(
            processors: 4, workers: [.background: 2], detectsBlocking: false)
        configuration.schedulingCalls = SimulatedSchedulingCalls(rights: rights)
        let scheduler = try QoSScheduler(configuration: configuration)
        let (quietBegun, promotedBegun, isOver) = (Gate(), Gate(), Gate())
        let callers = [(false, quietBegun), (true, promotedBegun)].map { promotes, begun in
            scheduler.startDetachedTask(at: .background) {
                await scheduler.run(at: .background, promotes: promotes) {
                    begun.open()
                    while !isOver.isOpen {}
                    return Task.currentPriority
                }
            }
        }
        await quietBegun.passed()
        await promotedBegun.passed()
        for caller in callers { caller.escalatePriority(to: .high) }
        while scheduler.snapshot.runningPromoted == 0 { await Task.yield() }
        isOver.open()
        #expect(await callers[0].value == .background)
        #expect(await callers[1].value == .high)
        try await scheduler.shutdown()
    }
}
