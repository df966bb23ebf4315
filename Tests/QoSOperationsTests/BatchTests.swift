import QoSCore
import QoSOperations
import QoSRuntime
import QoSRuntimeTestSupport
import Testing

/// The lock of all operations, under many of them at once.
@Suite("Many operations at once", .timeLimit(.minutes(5)))
struct BatchTests {
    @Test("Adding, starting and cancelling a hundred thousand operations handles few of them at a time under the lock")
    func holds() async throws {
        try await withScheduler { scheduler in
            let count = 100_000
            let queue = QoSOperationQueue(scheduler: scheduler, maxConcurrent: .unlimited, isSuspended: true)
            let ran = Tally()
            try queue.add((0..<count).map { _ in QoSOperation { _ = ran.add() } })
            #expect(queue.operationCount == count)
            try queue.resume()
            try await queue.waitUntilAllFinished()
            #expect(ran.value == count)

            let cancelled = (0..<count).map { _ in QoSOperation { _ = ran.add() } }
            let stopped = QoSOperationQueue(scheduler: scheduler, isSuspended: true)
            try stopped.add(cancelled)
            stopped.cancelAllOperations()
            #expect(cancelled.allSatisfy { $0.outcome == .cancelled })
            #expect(ran.value == count)
            // 64 that are added, and as many that start for it.
            #expect(QoSOperationQueue.mostHandledAtOnce <= 128)
            #expect(QoSOperationQueue.mostHandledAtOnce >= 64)
        }
    }

    @Test(
        "A long list with one that was added before is refused as a whole, wherever that one stands",
        arguments: [0, 500, 999])
    func refusedList(place: Int) async throws {
        try await withScheduler { scheduler in
            let (queue, other) = (QoSOperationQueue(scheduler: scheduler), QoSOperationQueue(scheduler: scheduler))
            var list = (0..<1000).map { number in QoSOperation(name: "\(number)") { number } }
            try other.add(list[place])
            #expect(throws: OperationError.addedTwice("\(place)")) { try queue.add(list) }
            #expect(queue.operationCount == 0)
            list.remove(at: place)
            try queue.add(list)
            try await queue.waitUntilAllFinished()
            #expect(list.allSatisfy { $0.outcome == .succeeded })
            try await other.waitUntilAllFinished()
        }
    }

    @Test("While a long list is added others get at their queues")
    func others() async throws {
        try await withScheduler { scheduler in
            var seen = 0
            while seen == 0 {
                let queue = QoSOperationQueue(scheduler: scheduler, isSuspended: true)
                let (list, isAdded) = ((0..<20_000).map { _ in QoSOperation {} }, Gate())
                let looking = Gate()
                let looker = Task(executorPreference: scheduler.executor(for: .userInitiated), priority: .high) {
                    looking.open()
                    var parts = 0
                    while !isAdded.isOpen {
                        let count = queue.operationCount
                        if count > 0, count < list.count { parts += 1 }
                    }
                    return parts
                }
                await looking.passed()
                try queue.add(list)
                isAdded.open()
                seen = await looker.value
                queue.cancelAllOperations()
            }
        }
    }

    @Test("A barrier runs behind a long list that is added before it, also when one of that has ended before")
    func barrierBehindList() async throws {
        try await withScheduler { scheduler in
            let queue = QoSOperationQueue(scheduler: scheduler)
            let ran = Tally()
            let list = (0..<1000).map { _ in QoSOperation { _ = ran.add() } }
            for operation in list.prefix(3) { operation.cancel() }
            try queue.add(list)
            let barrier = queue.addBarrier { ran.value }
            let after = queue.addOperation { ran.value }
            #expect(try await barrier.value == 997)
            #expect(try await after.value == 997)
        }
    }

    @Test(
        "O11 all that are cancelled together are cancelled, whatever depends on whatever, in a chain longer than one hold"
    )
    func cancelledChain() async throws {
        try await withScheduler { scheduler in
            let queue = QoSOperationQueue(scheduler: scheduler, isSuspended: true)
            let chain = (0..<500).map { number in QoSOperation(name: "\(number)") { number } }
            for (child, parent) in zip(chain.dropFirst(), chain) { try child.addDependency(parent) }
            try queue.add(chain)
            queue.cancelAllOperations()
            #expect(chain.allSatisfy { $0.outcome == .cancelled })
            for operation in chain { await #expect(throws: CancellationError.self) { try await operation.value } }
        }
    }

    @Test(
        "O11 what comes to its turn by the end of others, while all of them are cancelled, ends without running",
        arguments: [true, false])
    func turnWhileCancelled(isBarrier: Bool) async throws {
        try await withScheduler { scheduler in
            let queue = QoSOperationQueue(scheduler: scheduler)
            let (gate, ran) = (QoSOperation {}, Tally())
            // As many as are cancelled under one hold of the lock.
            let others = (0..<64).map { _ in QoSOperation { _ = ran.add() } }
            for operation in others { try operation.addDependency(gate) }
            try queue.add(others)
            let options = OperationOptions(onFailedDependency: .runAnyway, isBarrier: isBarrier)
            let last = QoSOperation(options, body: { _ = ran.add() })
            for other in others where !isBarrier { try last.addDependency(other) }
            try queue.add(last)
            queue.cancelAllOperations()
            await #expect(throws: CancellationError.self) { try await last.value }
            #expect(last.outcome == .cancelled && last.isCancelled)
            #expect(others.allSatisfy { $0.outcome == .cancelled })
            try await queue.waitUntilAllFinished()
            #expect(ran.value == 0 && queue.operationCount == 0)
            #expect(!gate.isFinished)
        }
    }
}
