import QoSCore
import QoSKernel
import QoSRuntime
import QoSRuntimeTestSupport
import Testing

@Suite("A work item", .timeLimit(.minutes(5)))
struct WorkItemTests {
    @Test("B4 it runs once: a second submission is refused")
    func once() async throws {
        try await withScheduler { scheduler in
            let queue = scheduler.makeQueue("queue")
            let ran = Tally()
            let item = WorkItem { ran.add() }
            try queue.async(item)
            #expect(throws: WorkQueueError.itemAlreadySubmitted) { try queue.async(item) }
            #expect(throws: WorkQueueError.itemAlreadySubmitted) { try queue.sync(item) }
            await item.waitUntilFinished()
            item.perform()
            #expect(ran.value == 1)
            #expect(item.isFinished)
        }
    }

    @Test("B4 it may be performed directly, at its level or the thread's")
    func performed() async throws {
        try await withScheduler { scheduler in
            try await scheduler.globalQueue(for: .utility).quietly {
                let item = WorkItem(level: .userInitiated) { #expect(QoS.currentLevel == .userInitiated) }
                item.perform()
                #expect(item.isFinished)
                #expect(QoS.currentLevel == .utility)
                let low = WorkItem(level: .background) { #expect(QoS.currentLevel == .utility) }
                low.perform()
                #expect(low.isFinished)
            }
        }
    }

    @Test("B4 performed while it waits in a queue, it is passed over there")
    func performedWhileQueued() async throws {
        try await withScheduler { scheduler in
            let queue = scheduler.makeQueue("queue")
            try queue.suspend()
            let ran = Tally()
            let item = WorkItem { ran.add() }
            try queue.async(item)
            item.perform()
            #expect(ran.value == 1)
            try queue.resume()
            try await queue.run {}
            #expect(ran.value == 1)
        }
    }

    @Test("B9 assignCurrent captures the level of the code that makes the item")
    func assignCurrent() async throws {
        try await withScheduler { scheduler in
            // Awaiting the item itself would raise it.
            let ran = Gate()
            let item = try await scheduler.globalQueue(for: .background).quietly {
                WorkItem(flags: .assignCurrent) {
                    #expect(QoS.currentLevel == .background)
                    ran.open()
                }
            }
            #expect(item.level == .background)
            let queue = scheduler.makeQueue("queue")
            try await scheduler.globalQueue(for: .userInitiated).quietly { try queue.async(item) }
            await ran.passed()
        }
    }

    @Test("B9 a detached item has nothing of its submitter's level")
    func detached() async throws {
        try await withScheduler { scheduler in
            let queue = scheduler.makeQueue("queue")
            let item = WorkItem(flags: .detached) { #expect(QoS.currentLevel == .default) }
            try await scheduler.globalQueue(for: .background).quietly { try queue.async(item) }
            while !item.isFinished { await Task.yield() }
        }
    }

    @Test("B12 cancelled before its turn it does not run, and those who wait go on")
    func cancelled() async throws {
        try await withScheduler { scheduler in
            let queue = scheduler.makeQueue("queue")
            let (begun, goOn, notified) = (Gate(), Gate(), Gate())
            let running = WorkItem {
                begun.open()
                goOn.blockThread()
            }
            let ran = Tally()
            let waiting = WorkItem { ran.add() }
            waiting.notify(on: scheduler.globalQueue(for: .default)) { notified.open() }
            try queue.async(running)
            try queue.async(waiting)
            await begun.passed()
            running.cancel()
            waiting.cancel()
            #expect(running.isCancelled && !running.isFinished)
            let thread = try RunningThread(name: "waits") { try? waiting.blockUntilFinished() }
            goOn.open()
            try thread.join()
            await waiting.waitUntilFinished()
            await notified.passed()
            #expect(ran.value == 0)
            #expect(waiting.isFinished)
        }
    }

    @Test("B13 a wait ends with the item, or at its deadline; a deadline in the past only looks")
    func deadlines() async throws {
        try await withScheduler { scheduler in
            let queue = scheduler.makeQueue("queue")
            try queue.suspend()
            let item = WorkItem {}
            try queue.async(item)
            func block() throws {
                try #expect(!item.blockUntilFinished(within: .zero))
                try #expect(!item.blockUntilFinished(within: .seconds(-5)))
                try #expect(!item.blockUntilFinished(deadline: SuspendingClock.now.advanced(by: .seconds(-1))))
                try #expect(!item.blockUntilFinished(within: .milliseconds(2)))
                try queue.resume()
                try #expect(item.blockUntilFinished(within: .seconds(3_600)))
                try #expect(item.blockUntilFinished(within: .zero))
                try item.blockUntilFinished()
            }
            try block()
        }
    }

    @Test("B13 an item that waits for itself, or for one behind it on its serial queue, gets an error")
    func waitsForItself() async throws {
        try await withScheduler { scheduler in
            let queue = scheduler.makeQueue("queue")
            let itself = Lock<WorkItem?>(nil)
            let item = WorkItem {
                // Taken out: the two refer to each other.
                let item = itself.withLock { $0.take() }
                #expect(throws: WorkQueueError.wouldDeadlock("queue")) { try item?.blockUntilFinished() }
                let behind = WorkItem {}
                try? queue.async(behind)
                #expect(throws: WorkQueueError.wouldDeadlock("queue")) { try behind.blockUntilFinished() }
                #expect(throws: WorkQueueError.wouldDeadlock("queue")) {
                    try behind.blockUntilFinished(within: .seconds(3_600))
                }
            }
            itself.withLock { $0 = item }
            try queue.async(item)
            await item.waitUntilFinished()
        }
    }

    @Test("B4 notifications come when it has finished, on their queue, at their level")
    func notifications() async throws {
        try await withScheduler { scheduler in
            let (queue, target) = (scheduler.makeQueue("queue"), scheduler.makeQueue("target"))
            let (first, second) = (Gate(), Gate())
            let item = WorkItem {}
            let seen = Collected<Bool>()
            item.notify(on: target, level: .utility) {
                seen.append(item.isFinished && QoS.currentLevel == .utility)
                first.open()
            }
            try queue.async(item)
            await first.passed()
            item.notify(on: target, level: .background) {
                seen.append(QoS.currentLevel == .background)
                second.open()
            }
            await second.passed()
            #expect(seen.all == [true, true])
        }
    }
}
