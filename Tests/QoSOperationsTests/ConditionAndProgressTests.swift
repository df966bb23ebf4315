import QoSCore
import QoSOperations
import QoSRuntime
import QoSRuntimeTestSupport
import Testing

@Suite("Conditions and progress")
struct ConditionAndProgressTests {
    struct Unreachable: Error, Equatable {}

    @Test("An operation waits for its conditions, after its dependencies, and takes no place in the queue meanwhile")
    func conditions() async throws {
        try await withScheduler { scheduler in
            let queue = QoSOperationQueue(scheduler: scheduler, maxConcurrent: .one)
            let (asked, reachable) = (Gate(), Gate())
            let condition = OperationCondition("reachable") {
                asked.open()
                await reachable.passed()
            }
            let operation = queue.addOperation(OperationOptions(conditions: [condition])) { 1 }
            await asked.passed()
            let value1 = try await queue.addOperation { 2 }.value
            #expect(value1 == 2)
            #expect(!operation.isFinished && !operation.isRunning)
            reachable.open()
            let value2 = try await operation.value
            #expect(value2 == 1)
        }
    }

    @Test("A condition that is not met ends the operation with its error")
    func notMet() async throws {
        try await withScheduler { scheduler in
            let queue = QoSOperationQueue(scheduler: scheduler)
            let condition = OperationCondition("reachable") { throw Unreachable() }
            let operation = queue.addOperation(OperationOptions(conditions: [condition])) { 1 }
            await #expect(throws: Unreachable()) { try await operation.value }
            #expect(operation.outcome == .failed)
        }
    }

    @Test("Cancelling an operation cancels the wait for its conditions")
    func cancelled() async throws {
        try await withScheduler { scheduler in
            let queue = QoSOperationQueue(scheduler: scheduler)
            let (asked, ended) = (Gate(), Gate())
            let condition = OperationCondition("never") {
                asked.open()
                defer { ended.open() }
                try await Task.sleep(for: .seconds(86_400))
            }
            let operation = queue.addOperation(OperationOptions(conditions: [condition])) { 1 }
            await asked.passed()
            operation.cancel()
            await ended.passed()
            #expect(operation.outcome == .cancelled)
            try await queue.waitUntilAllFinished()
        }
    }

    /// Tells when it is released.
    private final class Held: Sendable {
        private let released: Gate

        init(_ released: Gate) { self.released = released }

        deinit { released.open() }
    }

    private func operation(thatHolds held: Held) -> QoSOperation<Int> {
        let condition = OperationCondition("holds") { withExtendedLifetime(held) {} }
        return QoSOperation(OperationOptions(conditions: [condition]), body: { 1 })
    }

    @Test(
        "A condition is released when it was asked, or with the end of an operation that never asks; else no end",
        .timeLimit(.minutes(5)), arguments: [true, false])
    func released(isCancelled: Bool) async throws {
        try await withScheduler { scheduler in
            let queue = QoSOperationQueue(scheduler: scheduler)
            let released = Gate()
            let operation = operation(thatHolds: Held(released))
            #expect(!released.isOpen)
            if isCancelled { operation.cancel() }
            try queue.add(operation)
            await released.passed()
            try await operation.waitUntilFinished()
            #expect(operation.outcome == (isCancelled ? .cancelled : .succeeded))
        }
    }

    @Test("Progress is reported by the body, watched from outside, and ends with the operation")
    func progress() async throws {
        try await withScheduler { scheduler in
            let queue = QoSOperationQueue(scheduler: scheduler)
            let (half, goOn) = (Gate(), Gate())
            let operation = queue.addOperation(OperationOptions(name: "copy")) { context in
                context.progress.report(0.5, "half")
                context.progress.report(.nan)
                half.open()
                await goOn.passed()
                context.progress.report(2)
            }
            await half.passed()
            #expect(operation.progress.current == .init(fraction: 0.5, text: "half", isFinished: false))
            let updates = operation.progress.updates
            goOn.open()
            var last: OperationProgress.State?
            for await state in updates {
                #expect(state.fraction >= last?.fraction ?? 0)
                last = state
            }
            #expect(last == .init(fraction: 1, text: "half", isFinished: true))
        }
    }

    @Test("Progress in units of an amount that is known, or not")
    func units() {
        let progress = QoSOperation {}.progress
        progress.report(3, of: nil, "reading")
        #expect(progress.current == .init(fraction: 0, completed: 3, text: "reading"))
        #expect(progress.current.isIndefinite)
        progress.report(3, of: 12)
        #expect(progress.current == .init(fraction: 0.25, completed: 3, total: 12, text: "reading"))
        #expect(!progress.current.isIndefinite)
        progress.report(20, of: 12)
        #expect(progress.current == .init(fraction: 1, completed: 12, total: 12, text: "reading"))
        progress.report(-1, of: 0)
        #expect(progress.current == .init(fraction: 1, completed: 0, text: "reading"))
        progress.report(0.5)
        #expect(progress.current == .init(fraction: 0.5, text: "reading"))
    }

    @Test("A queue's progress is held against what is expected, if somebody says how much that is")
    func expected() async throws {
        try await withScheduler { scheduler in
            let queue = QoSOperationQueue(scheduler: scheduler)
            queue.expectedCount = 4
            #expect(queue.progress.fraction == 0)
            try await queue.addOperation {}.waitUntilFinished()
            #expect(queue.progress == QueueProgress(added: 1, finished: 1, expected: 4))
            #expect(queue.progress.fraction == 0.25)
            for _ in 0..<7 { queue.addOperation {} }
            try await queue.waitUntilAllFinished()
            #expect(queue.progress.total == 8 && queue.progress.fraction == 1, "more came than was expected")
            queue.expectedCount = nil
            #expect(queue.progress == QueueProgress(added: 8, finished: 8))
        }
    }

    @Test("A queue's progress counts what was added and what has ended, and ends with the queue")
    func queueProgress() async throws {
        try await withScheduler { scheduler in
            var queue: QoSOperationQueue? = QoSOperationQueue(scheduler: scheduler, isSuspended: true)
            #expect(queue?.progress.fraction == 1)
            for _ in 0..<10 { queue?.addOperation {} }
            #expect(queue?.progress == QueueProgress(added: 10, finished: 0))
            let updates = try #require(queue?.progressUpdates)
            try queue?.resume()
            try await queue?.waitUntilAllFinished()
            queue = nil
            var last: QueueProgress?
            for await progress in updates { last = progress }
            #expect(last == QueueProgress(added: 10, finished: 10))
        }
    }

    @Test("A queue's last state is not overwritten by an older one, whose thread was held up before it sent that")
    func olderState() async throws {
        try await withScheduler { scheduler in
            let queue = QoSOperationQueue(scheduler: scheduler, maxConcurrent: .one)
            let (started, goOn) = (Gate(), Gate())
            queue.addOperation {
                await withTaskCancellationHandler {
                    started.open()
                    await goOn.passed()
                } onCancel: {
                    // On the cancelling thread, which has counted the end of the second one and not sent it.
                    _ = queue.addOperation {}
                }
            }
            await started.passed()
            queue.addOperation {}
            var updates = queue.progressUpdates.makeAsyncIterator()
            queue.cancelAllOperations()
            let last = await updates.next()
            #expect(last == QueueProgress(added: 3, finished: 1))
            goOn.open()
            try await queue.waitUntilAllFinished()
        }
    }
}
