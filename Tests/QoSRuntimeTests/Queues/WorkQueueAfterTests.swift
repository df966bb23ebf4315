import QoSCore
import QoSKernel
import QoSRuntime
import QoSRuntimeTestSupport
import Testing

@Suite("Submission after a delay", .timeLimit(.minutes(5)))
struct WorkQueueAfterTests {
    @Test("B10 B14 S6 it is never early", arguments: [Duration.milliseconds(3), .microseconds(1), .milliseconds(12)])
    func neverEarly(_ delay: Duration) async throws {
        try await withScheduler { scheduler in
            let queue = scheduler.makeQueue("queue", level: .userInteractive)
            let begun = MonotonicClock.nanoseconds()
            let ran: UInt64 = await withCheckedContinuation { continuation in
                queue.async(after: delay) { continuation.resume(returning: MonotonicClock.nanoseconds()) }
            }
            #expect(Duration.nanoseconds(Int64(ran - begun)) >= delay)
        }
    }

    @Test("B14 a deadline in the past submits at once, in the order of submission")
    func past() async throws {
        try await withScheduler { scheduler in
            let queue = scheduler.makeQueue("queue")
            let order = Collected<Int>()
            try queue.suspend()
            queue.async(after: .zero) { order.append(1) }
            queue.async(after: .seconds(-3)) { order.append(2) }
            queue.async(at: SuspendingClock.now.advanced(by: .seconds(-1))) { order.append(3) }
            let item = WorkItem { order.append(4) }
            try queue.async(after: .zero, item)
            try queue.resume()
            try await queue.run {}
            #expect(order.all == [1, 2, 3, 4])
        }
    }

    @Test("B10 it is detached: nothing of the submitter's level, its own and the queue's count")
    func detached() async throws {
        try await withScheduler { scheduler in
            let levels: [QoSLevel?] = try await scheduler.globalQueue(for: .background).quietly {
                let (queue, high) = (scheduler.makeQueue("queue"), scheduler.makeQueue("high", level: .userInitiated))
                let (seen, group) = (Collected<QoSLevel?>(), WorkGroup())
                for _ in 0..<3 { group.enter() }
                let note: @Sendable () -> Void = {
                    seen.append(QoS.currentLevel)
                    #expect(throws: Never.self) { try group.leave() }
                }
                queue.async(after: .milliseconds(1), tolerance: .zero, note)
                queue.async(after: .milliseconds(2), tolerance: .zero, level: .utility, note)
                high.async(after: .milliseconds(3), tolerance: .zero, note)
                #expect(throws: Never.self) { try group.blockUntilFinished() }
                return seen.all
            }
            #expect(Set(levels) == [.default, .utility, .userInitiated])
        }
    }

    @Test("B12 an item submitted after a delay can be cancelled before")
    func cancelled() async throws {
        try await withScheduler { scheduler in
            let queue = scheduler.makeQueue("queue")
            let ran = Tally()
            let item = WorkItem { ran.add() }
            // However soon the delay is over, the item begins after it has been cancelled.
            try queue.suspend()
            try queue.async(after: .milliseconds(1), item)
            #expect(throws: WorkQueueError.itemAlreadySubmitted) { try queue.async(item) }
            item.cancel()
            try queue.resume()
            await item.waitUntilFinished()
            #expect(ran.value == 0)
        }
    }

    @Test("an item whose delay outlives the scheduler runs all the same")
    func outlivesScheduler() async throws {
        let scheduler = try QoSScheduler(configuration: .init(processors: 1, appliesKernelEffects: false))
        let ran = Gate()
        let queue = scheduler.makeQueue("queue")
        queue.async(after: .milliseconds(50)) { ran.open() }
        try await scheduler.shutdown(within: .zero)
        await ran.passed()
        #expect(ran.isOpen)
    }
}
