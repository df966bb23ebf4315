import QoSCore
import QoSKernel
import QoSRuntimeTestSupport
import Testing

@testable import QoSRuntime

@Suite("What work queues hold, and give back", .timeLimit(.minutes(5)))
struct WorkQueueLifetimeTests {
    @Test(
        "B3 B11 a barrier of a concurrent queue runs after what serial queues run on it, and the turns are given back")
    func barrierBehindSerialQueues() async throws {
        try await withScheduler { scheduler in
            let target = scheduler.makeQueue("target", .concurrent)
            let queues = try (0..<3).map { try scheduler.makeQueue("serial \($0)", target: target) }
            let ran = Tally()
            let order = Collected<Int>()
            for round in 0..<20 {
                for queue in queues { queue.async { ran.add() } }
                let gate = Gate()
                target.asyncBarrier {
                    order.append(round)
                    gate.open()
                }
                await gate.passed()
            }
            for queue in queues { try await queue.run {} }
            #expect(ran.value == 60)
            #expect(order.all == Array(0..<20))
            let active = try await target.run(flags: .barrier) { target.core.state.withLock { $0.active.count } }
            #expect(active == 1)
        }
    }

    @Test("an item that has finished, and what its closure held, go when nobody keeps them")
    func itemGoes() async throws {
        try await withScheduler { scheduler in
            let queue = scheduler.makeQueue("items")
            weak var item: WorkItem?
            weak var held: Tally?
            do {
                let tally = Tally()
                let made = WorkItem { tally.add() }
                (item, held) = (made, tally)
                try queue.async(made)
                await made.waitUntilFinished()
            }
            try await queue.run {}
            #expect(item == nil)
            #expect(held == nil)
        }
    }

    @Test("B12 I1 a task that is cancelled waits no longer, so what stood before its item is not raised any more")
    func cancelledAwait() async throws {
        try await withScheduler { scheduler in
            let queue = scheduler.makeQueue("items")
            let (blocked, free) = (Gate(), Gate())
            let first = WorkItem(level: .background) {
                blocked.open()
                free.blockThread()
            }
            try queue.async(first)
            await blocked.passed()
            let waiter = Task(executorPreference: scheduler.executor(for: .userInitiated), priority: .userInitiated) {
                try? await queue.run(level: .background) {}
            }
            while first.effectiveLevel != .userInitiated { await Task.yield() }
            waiter.cancel()
            await waiter.value
            #expect(first.effectiveLevel == .background)
            free.open()
            await first.waitUntilFinished()
        }
    }

    @Test("a worker that waits runs only what stands before its item: others may want what it holds")
    func helpsOnlyItsOwn() async throws {
        try await withScheduler(.init(processors: 1, appliesKernelEffects: false)) { scheduler in
            let held = scheduler.makeQueue("held", level: .utility)
            let shared = scheduler.makeQueue("shared", .concurrent, level: .utility)
            let refused = Tally()
            let (first, all) = (Gate(), Gate())
            held.async {
                // The only worker of the class is here: these two wait for a thread, the first of them for this queue
                // too.
                shared.async {
                    do { try held.sync {} } catch { refused.add() }
                    all.open()
                }
                let item = WorkItem {}
                do {
                    try shared.async(item)
                    try item.blockUntilFinished()
                } catch {
                    refused.add()
                }
                first.open()
            }
            await first.passed()
            await all.passed()
            #expect(refused.value == 0)
        }
    }
}
