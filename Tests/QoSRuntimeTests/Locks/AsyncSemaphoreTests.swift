import QoSCore
import QoSRuntime
import QoSRuntimeTestSupport
import Testing

@Suite("A semaphore for tasks", .timeLimit(.minutes(5)))
struct AsyncSemaphoreTests {
    @Test("as many tasks pass as there are permits")
    func permits() async throws {
        let semaphore = try AsyncSemaphore(permits: 3)
        let inside = Atomic32()
        try await withThrowingTaskGroup { group in
            for _ in 0..<50 {
                group.addTask {
                    try await semaphore.withPermit {
                        #expect(inside.enter() <= 3)
                        await Task.yield()
                        inside.leave()
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(semaphore.waiterCount == 0)
    }

    @Test("I2 every holder of a permit is raised while something higher waits for one")
    func raisesHolders() async throws {
        let semaphore = try AsyncSemaphore(permits: 2)
        let (gate, held, ended) = (Gate(), Tally(), Tally())
        let priorities = Collected<TaskPriority>()
        for _ in 0..<2 {
            Task.detached(priority: .background) {
                try await semaphore.withPermit {
                    held.add()
                    await gate.passed()
                    await raised(to: .high)
                    priorities.append(Task.currentPriority)
                }
                ended.add()
            }
        }
        while held.value < 2 { await Task.yield() }
        let waiter = Task.detached(priority: .high) { try await semaphore.withPermit {} }
        while semaphore.waiterCount == 0 { await Task.yield() }
        gate.open()
        while ended.value < 2 { await Task.yield() }
        try await waiter.value
        #expect(priorities.all == [.high, .high])
    }

    @Test("I2 one permit in sixteen goes to the task that has waited longest, however many higher ones wait")
    func longest() async throws {
        let semaphore = try AsyncSemaphore(permits: 0)
        let order = Collected<Int>()
        let ended = Tally()
        for number in 0..<21 {
            Task.detached(priority: number == 0 ? .background : .high) {
                try await semaphore.withPermit { order.append(number) }
                ended.add()
            }
            while semaphore.waiterCount <= number { await Task.yield() }
        }
        semaphore.signal()
        // Awaiting the tasks would raise them.
        while ended.value < 21 { await Task.yield() }
        #expect(order.all == Array(1...15) + [0] + Array(16...20))
    }

    @Test("a signal lets one task pass, now or later; a semaphore may begin with no permit")
    func signals() async throws {
        let semaphore = try AsyncSemaphore(permits: 0)
        let waiter = Task { try await semaphore.wait() }
        while semaphore.waiterCount == 0 { await Task.yield() }
        semaphore.signal()
        try await waiter.value
        semaphore.signal()
        try await semaphore.wait()
        let cancelled = Task { try await semaphore.wait() }
        while semaphore.waiterCount == 0 { await Task.yield() }
        cancelled.cancel()
        await #expect(throws: CancellationError.self) { try await cancelled.value }
        // The cancelled one took nothing.
        semaphore.signal()
        try await semaphore.wait()
    }

    @Test("a semaphore with the greatest number of permits takes further ones, and lets tasks pass")
    func greatest() async throws {
        let semaphore = try AsyncSemaphore(permits: .max)
        semaphore.signal()
        try await semaphore.withPermit { semaphore.signal() }
        try await semaphore.wait()
        #expect(semaphore.waiterCount == 0)
    }

    @Test("I5 a task that waits for a permit although it has all of them gets an error; with one left it does not")
    func reentrant() async throws {
        let semaphore = try AsyncSemaphore(permits: 2)
        try await semaphore.withPermit {
            _ = try await semaphore.withPermit {
                await #expect(throws: LockError.self) { try await semaphore.withPermit {} }
            }
        }
        #expect(throws: LockError.invalidPermits(-1)) { try AsyncSemaphore(permits: -1) }
    }
}
