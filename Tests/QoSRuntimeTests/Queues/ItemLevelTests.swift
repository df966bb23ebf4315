import QoSCore
import QoSKernel
import QoSRuntime
import QoSRuntimeTestSupport
import Testing

@Suite("The level of an item", .timeLimit(.minutes(5)))
struct ItemLevelTests {
    @Test(
        "I1 I3 of an item that waits it includes what stands behind it",
        arguments: [WorkQueue.Kind.serial, .concurrent])
    func behind(_ kind: WorkQueue.Kind) async throws {
        try await withScheduler { scheduler in
            let queue = scheduler.makeQueue("queue", kind)
            try queue.suspend()
            let items = [QoSLevel.utility, .background, .userInitiated, .background].enumerated().map { index, level in
                WorkItem(level: level, flags: index == 2 ? [.barrier, .detached] : .detached) {}
            }
            for item in items { try queue.async(item) }
            #expect(items.map(\.effectiveLevel) == [.userInitiated, .userInitiated, .userInitiated, .background])
            try queue.resume()
            await items[3].waitUntilFinished()
            #expect(items.map(\.effectiveLevel) == [nil, nil, nil, nil])
        }
    }

    @Test("B11 an item of a concurrent queue is not raised by what may run beside it")
    func beside() async throws {
        try await withScheduler { scheduler in
            let queue = scheduler.makeQueue("queue", .concurrent)
            try queue.suspend()
            let (low, high) = (WorkItem(level: .utility) {}, WorkItem(level: .userInitiated) {})
            try queue.async(low)
            try queue.async(high)
            #expect(low.effectiveLevel == .utility)
            try queue.resume()
            await low.waitUntilFinished()
            await high.waitUntilFinished()
        }
    }

    @Test("I1 it includes what stands behind the item's queue in the target")
    func target() async throws {
        try await withScheduler { scheduler in
            let target = scheduler.makeQueue("target")
            let queue = try scheduler.makeQueue("queue", target: target)
            try target.suspend()
            let (low, high) = (WorkItem(level: .utility) {}, WorkItem(level: .userInitiated) {})
            try queue.async(low)
            try target.async(high)
            #expect(low.effectiveLevel == .userInitiated)
            try target.resume()
            await high.waitUntilFinished()
        }
    }

    @Test("an item has a level while its submitter runs it, and that of what it runs in if it is higher")
    func submitters() async throws {
        try await withScheduler { scheduler in
            let seen = Collected<QoSLevel?>()
            let own = Lock<WorkItem?>(nil)
            @Sendable func item() -> WorkItem {
                let item = WorkItem(level: .utility) { seen.append(own.withLock { $0.take() }?.effectiveLevel) }
                own.withLock { $0 = item }
                return item
            }
            let queue = scheduler.makeQueue("queue", level: .background)
            try await scheduler.globalQueue(for: .background).quietly {
                try queue.sync(item())
                item().perform()
            }
            try await scheduler.globalQueue(for: .userInitiated).quietly { item().perform() }
            #expect(seen.all == [.utility, .utility, .userInitiated])
        }
    }

    @Test("a long queue is looked through in parts, to the item that counts")
    func long() async throws {
        try await withScheduler { scheduler in
            let queue = scheduler.makeQueue("queue")
            try queue.suspend()
            let first = WorkItem(level: .background) {}
            try queue.async(first)
            for _ in 0..<5_000 { queue.async(level: .utility) {} }
            #expect(first.effectiveLevel == .utility)
            queue.async(level: .userInitiated) {}
            #expect(first.effectiveLevel == .userInitiated)
            #expect(queue.waitingCount == 5_002)
            #expect(queue.isSuspended)
            try queue.resume()
            #expect(!queue.isSuspended)
            try await queue.run {}
            #expect(queue.waitingCount == 0)
        }
    }

    @Test("B13 a wait that only watches does not raise the item")
    func watching() async throws {
        try await withScheduler { scheduler in
            let queue = scheduler.makeQueue("queue")
            try queue.suspend()
            let begun = Gate()
            let level = Lock<QoSLevel?>(nil)
            let item = WorkItem(level: .background) {
                let current = QoS.currentLevel
                level.withLock { $0 = current }
            }
            try queue.async(item)
            let waiting = Task(priority: .high) {
                begun.open()
                await item.waitUntilFinished(promotes: false)
            }
            await begun.passed()
            try queue.resume()
            await waiting.value
            #expect(level.withLock { $0 } == .background)
        }
    }
}
