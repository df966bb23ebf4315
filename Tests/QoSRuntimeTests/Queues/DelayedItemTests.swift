import CQoSShims
import QoSCore
import QoSKernel
import QoSRuntimeTestSupport
import Testing

@testable import QoSRuntime

@Suite("Waiting for items that are not due", .timeLimit(.minutes(5)))
struct DelayedItemTests {
    /// The queues on which an item can be due later.
    enum Place: CaseIterable {
        case serial, concurrent, global, chained

        func queue(of scheduler: QoSScheduler) throws -> WorkQueue {
            switch self {
            case .serial: scheduler.makeQueue("delayed", level: .default)
            case .concurrent: scheduler.makeQueue("delayed", .concurrent, level: .default)
            case .global: scheduler.globalQueue(for: .default)
            case .chained:
                try scheduler.makeQueue(
                    "delayed", level: .default, target: scheduler.makeQueue("target", level: .default))
            }
        }
    }

    @Test(
        "B13 B14 a worker that waits for a delayed item runs it when it is due and not before, though it is the only one",
        arguments: Place.allCases)
    func due(place: Place) async throws {
        let configuration = QoSScheduler.Configuration(
            processors: 1, workers: [.default: 1], appliesKernelEffects: false, detectsBlocking: false)
        try await withScheduler(configuration) { scheduler in
            let (queue, waiter) = (try place.queue(of: scheduler), scheduler.makeQueue("waiter", level: .default))
            let ran = Collected<UInt64>()
            let begun = MonotonicClock.nanoseconds()
            let item = WorkItem { ran.append(MonotonicClock.nanoseconds()) }
            try await waiter.run {
                try queue.async(after: .milliseconds(40), tolerance: .zero, item)
                try item.blockUntilFinished()
            }
            #expect(ran.all.count == 1)
            #expect(ran.all.allSatisfy { $0 - begun >= 40_000_000 })
        }
    }

    @Test("B13 what stands in the queue of an item that is not due is not run by the worker that waits for the item")
    func foreign() async throws {
        try await withScheduler { scheduler in
            let queue = scheduler.makeQueue("delayed", level: .default)
            let waiter = scheduler.makeQueue("waiter", level: .default)
            let (item, threads) = (WorkItem {}, Collected<UInt32>())
            let begun = MonotonicClock.nanoseconds()
            let own: UInt32 = try await waiter.run {
                try queue.async(after: .milliseconds(40), tolerance: .zero, item)
                // One of them is in the queue whenever the waiting worker looks.
                for _ in 0..<1_000 {
                    queue.async {
                        if MonotonicClock.nanoseconds() < begun + 40_000_000 { threads.append(cqos_own_id()) }
                    }
                }
                try item.blockUntilFinished()
                return cqos_own_id()
            }
            #expect(!threads.all.contains(own))
        }
    }

    @Test("a shutdown does not wait for a delayed item that has run, though a worker waited for it")
    func hold() async throws {
        try await withScheduler { scheduler in
            let queue = scheduler.globalQueue(for: .default)
            let item = WorkItem(flags: .onShutdown(.finish)) {}
            try await scheduler.makeQueue("waiter").run {
                try queue.async(after: .milliseconds(10), tolerance: .zero, item)
                try item.blockUntilFinished()
            }
            // What has been due before this has been added before it.
            let last = Gate()
            queue.async(after: .milliseconds(30), tolerance: .zero) { last.open() }
            await last.passed()
            #expect(scheduler.core.shutdownHolds.isEmpty)
        }
    }

    @Test("B12 a cancelled item releases its closure at once, also one that is not due", arguments: [false, true])
    func captures(delayed: Bool) async throws {
        final class Captured: Sendable {}
        try await withScheduler { scheduler in
            let queue = scheduler.makeQueue("queue")
            try queue.suspend()
            weak var weakly: Captured?
            let item: WorkItem
            do {
                let captured = Captured()
                weakly = captured
                item = WorkItem { withExtendedLifetime(captured) {} }
            }
            if delayed {
                try queue.async(after: .milliseconds(50), item)
            } else {
                try queue.async(item)
            }
            #expect(weakly != nil)
            item.cancel()
            #expect(weakly == nil)
            try queue.resume()
            await item.waitUntilFinished()
        }
    }
    @Test("an item that is due in an hour ends and is released when it is cancelled after the end of its scheduler")
    func cancelledAfterTheEnd() async throws {
        final class Captured: Sendable {}
        let scheduler = try QoSScheduler(configuration: .init(processors: 1, appliesKernelEffects: false))
        let queue = scheduler.makeQueue("queue")
        weak var weakly: Captured?
        let item: WorkItem
        do {
            let captured = Captured()
            weakly = captured
            item = WorkItem { withExtendedLifetime(captured) {} }
        }
        try queue.async(after: .seconds(3_600), item)
        try await scheduler.shutdown(within: .zero)
        #expect(weakly != nil)
        item.cancel()
        await item.waitUntilFinished()
        #expect(weakly == nil)
    }
}
