import QoSCore
import QoSKernel
import QoSRuntimeTestSupport
import Synchronization
import Testing

@testable import QoSRuntime

@Suite("The low classes under a quota", .timeLimit(.minutes(5)))
struct BudgetTests {
    /// A scheduler in a made control group, whose account nobody keeps: the process's own clock counts.
    private func withQuota<Success>(
        _ quota: String, _ body: (QoSScheduler, MadeGroup) async throws -> Success
    ) async throws -> Success {
        let group = try MadeGroup()
        try group.setQuota(quota)
        var configuration = QoSScheduler.Configuration(
            processors: 2, appliesKernelEffects: false, detectsBlocking: false)
        configuration.fileRoot = group.root
        return try await withScheduler(configuration) { try await body($0, group) }
    }

    private func spin(_ qosClass: QoSClass, on scheduler: QoSScheduler, until isOver: Gate) -> Task<Void, Never> {
        Task.detached(executorPreference: scheduler.executor(for: qosClass)) {
            while !isOver.isOpen { await Task.yield() }
        }
    }

    private func holds(_ scheduler: QoSScheduler) -> UInt64 { scheduler.snapshot.quota?.holds ?? 0 }

    @Test("a snapshot shows the quota; without one, and with one that the processors cannot use up, there is none")
    func shown() async throws {
        try await withQuota("50000 100000") { scheduler, _ in
            let quota = try #require(scheduler.snapshot.quota)
            #expect(quota.processors == 0.5)
            #expect(quota.period == .milliseconds(100))
            #expect(quota.held.isEmpty)
        }
        try await withQuota("max 100000") { scheduler, _ in #expect(scheduler.snapshot.quota == nil) }
        try await withQuota("100000000 100000") { scheduler, _ in #expect(scheduler.snapshot.quota == nil) }
    }

    @Test(
        "C7 low work that would spend more than the quota is held and let go, again and again; high work is not",
        arguments: [QoSClass.default, .utility, .background])
    func held(_ low: QoSClass) async throws {
        try await withQuota("10000 100000") { scheduler, _ in
            let isOver = Gate()
            let task = spin(low, on: scheduler, until: isOver)
            while holds(scheduler) < 5 {
                await Task.detached(executorPreference: scheduler.executor(for: .userInitiated)) {}.value
            }
            isOver.open()
            await task.value
            let pools = scheduler.snapshot.pools
            #expect(pools[QoSClass.userInteractive.rank - low.rank].timesParked >= 5)
        }
    }

    @Test("a job that never suspends is held at its checkpoints, and goes on")
    func checkpoint() async throws {
        try await withQuota("10000 100000") { scheduler, _ in
            let isOver = Gate()
            let task = Task.detached(executorPreference: scheduler.executor(for: .background)) {
                while !isOver.isOpen { Self.checkpoint() }
            }
            while holds(scheduler) < 3 { await Task.yield() }
            isOver.open()
            await task.value
        }
    }

    @Test("I4 low work that high work awaits is not held: it moves to the class of its waiter")
    func awaited() async throws {
        // A millisecond of ten seconds is used up at once, and not refilled soon.
        try await withQuota("1000 1000000") { scheduler, _ in
            let isOver = Gate()
            let spinning = spin(.background, on: scheduler, until: isOver)
            while scheduler.snapshot.quota?.held.contains(.background) != true { await Task.yield() }
            for _ in 0..<20 {
                let low = Task.detached(executorPreference: scheduler.executor(for: .background)) { true }
                let high = Task.detached(executorPreference: scheduler.executor(for: .userInitiated), priority: .high) {
                    await low.value
                }
                #expect(await high.value)
            }
            #expect(scheduler.snapshot.tasksMoved > 0)
            isOver.open()
            await spinning.value
        }
    }

    @Test("a quota that is taken away lets the low classes go; one that comes holds them")
    func changed() async throws {
        try await withQuota("1000 100000") { scheduler, group in
            let isOver = Gate()
            let task = spin(.utility, on: scheduler, until: isOver)
            // The loop looks at the group while a worker is awake.
            let awake = spin(.userInitiated, on: scheduler, until: isOver)
            while holds(scheduler) == 0 { await Task.yield() }
            try group.setQuota("max 100000")
            while scheduler.snapshot.quota != nil { await Task.yield() }
            try group.setQuota("20000 100000")
            while holds(scheduler) == 0 { await Task.yield() }
            #expect(scheduler.snapshot.quota?.processors == 0.2)
            try group.setQuota("nonsense")
            isOver.open()
            await task.value
            await awake.value
        }
    }

    @Test("a paused class wants nothing of the quota, although it has work")
    func paused() async throws {
        try await withScheduler { scheduler in
            let group = scheduler.core.group
            func wanting() -> QoSClassSet { group.budget.state.withLock { group.readLowWork(&$0).wanting } }
            scheduler.setWidthLimit(0, for: .utility)
            let task = Task.detached(executorPreference: scheduler.executor(for: .utility)) {}
            while !group.pools[QoSClass.utility.rank].hasWork() { await Task.yield() }
            #expect(wanting().isEmpty)
            // As if the class were limited only: its work is still in its queue.
            group.admission.notes.set(limit: 1, rank: QoSClass.utility.rank, at: 0)
            #expect(wanting() == QoSClassSet(.utility))
            scheduler.setWidthLimit(nil, for: .utility)
            await task.value
        }
    }

    @Test("a shutdown lets held work come to its end")
    func shutdown() async throws {
        let finished = Finished()
        try await withQuota("1000 1000000") { scheduler, _ in
            let isOver = Gate()
            let task = spin(.background, on: scheduler, until: isOver)
            while scheduler.snapshot.quota?.held.isEmpty != false { await Task.yield() }
            for _ in 0..<100 {
                Task.detached(executorPreference: scheduler.executor(for: .background)) {
                    finished.count.add(1, ordering: .relaxed)
                }
            }
            isOver.open()
            _ = task
        }
        #expect(finished.count.load(ordering: .relaxed) == 100)
    }

    /// The number of jobs that have run.
    private final class Finished: Sendable {
        let count = Atomic<Int>(0)
    }

    /// `QoS.checkpoint()`, in a function that is not inlined into the loop around it.
    @inline(never)
    private static func checkpoint() { QoS.checkpoint() }
}
