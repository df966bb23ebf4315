import Glibc
import QoSCore
import QoSRuntime
import QoSRuntimeTestSupport
import Testing

@testable import QoSOperations

/// Circles that come about while a long list is added: between its pieces, the lock is free.
@Suite("Circles with operations of a long list", .timeLimit(.minutes(5)))
struct LongListTests {
    private static let count = OperationEngine.operationsAtOnce * 3

    /// A list whose second piece raises a running operation. That runs a closure on the adding thread, with two pieces
    /// in the queue and one to come.
    private func list(
        on scheduler: QoSScheduler, last: QoSOperation<Int>, between body: @escaping @Sendable () -> Void
    ) async throws -> (list: [BaseOperation], raised: QoSOperation<Void>, end: Gate) {
        let (begun, end) = (Gate(), Gate())
        let raised = QoSOperationQueue(scheduler: scheduler).addOperation(name: "raised", level: .background) {
            await withTaskPriorityEscalationHandler {
                begun.open()
                await end.passed()
            } onPriorityEscalated: { _, _ in
                body()
            }
        }
        await begun.passed()
        // It gets the level of its queue, so it raises nothing before it is added.
        let raising = QoSOperation(name: "raising") {}
        try raising.addDependency(raised)
        var list: [BaseOperation] = (0..<Self.count - 1).map { QoSOperation(name: "\($0)", level: .utility) {} }
        list[OperationEngine.operationsAtOnce + 5] = raising
        return (list + [last], raised, end)
    }

    private func isAwaited(_ operation: BaseOperation) -> Bool {
        OperationEngine.shared.look { _ in !operation.record.waiters.isEmpty }
    }

    /// Adds the list, and returns the waits of the circle for which it is refused.
    private func circle(adding list: [BaseOperation], to queue: QoSOperationQueue) -> Set<OperationWait> {
        do throws(OperationError) {
            try queue.add(list)
        } catch .deadlock(let waits) {
            return Set(waits)
        } catch {
            Issue.record(error)
        }
        // Not refused: the test must not hang.
        list.last?.cancel()
        return []
    }

    @Test("O10 a running operation begins to wait for the last one, which would stand behind it: refused")
    func wait() async throws {
        try await withScheduler { scheduler in
            let queue = QoSOperationQueue(scheduler: scheduler, level: .userInitiated, maxConcurrent: .one)
            let last = QoSOperation(name: "last", level: .utility) { 7 }
            let (begun, mayWait) = (Gate(), Gate())
            let waiting = queue.addOperation(name: "waiting", level: .utility) {
                begun.open()
                await mayWait.passed()
                return try await last.value
            }
            await begun.passed()
            let (list, raised, end) = try await list(on: scheduler, last: last) {
                mayWait.open()
                while !isAwaited(last) {}
            }
            #expect(
                circle(adding: list, to: queue) == [
                    .init(waiter: "waiting", awaited: "last", reason: .wait),
                    .init(waiter: "last", awaited: "waiting", reason: .limit),
                ])
            end.open()
            // Refused is as before: it may be added where it can run.
            try QoSOperationQueue(scheduler: scheduler).add(last)
            #expect(try await waiting.value == 7)
            try await raised.value
            try await queue.waitUntilAllFinished()
            // The operations of the pieces before it have run.
            let added = list.prefix(OperationEngine.operationsAtOnce * 2)
            #expect(added.map(\.outcome) == Array(repeating: .succeeded, count: added.count))
        }
    }

    @Test("O10 the last one is made to depend on a barrier behind the list: refused, and the barrier runs")
    func barrier() async throws {
        try await withScheduler { scheduler in
            let queue = QoSOperationQueue(scheduler: scheduler, level: .userInitiated)
            let last = QoSOperation(name: "last", level: .utility) { 7 }
            let barriers = Collected<QoSOperation<Void>>()
            let (list, raised, end) = try await list(on: scheduler, last: last) {
                let barrier = queue.addBarrier(name: "barrier", level: .utility) {}
                barriers.append(barrier)
                #expect(throws: Never.self) { try last.addDependency(barrier) }
            }
            #expect(
                circle(adding: list, to: queue) == [
                    .init(waiter: "barrier", awaited: "last", reason: .barrier),
                    .init(waiter: "last", awaited: "barrier", reason: .dependency),
                ])
            end.open()
            try await raised.value
            for barrier in barriers.all { try await barrier.value }
            try queue.add(last)
            #expect(try await last.value == 7)
        }
    }

    @Test("An operation of a refused piece that another thread adds as soon as it can is in that one's queue alone")
    func addedElsewhere() async throws {
        try await withScheduler { scheduler in
            for _ in 0..<20 {
                let queue = QoSOperationQueue(scheduler: scheduler, level: .userInitiated)
                let (other, third) = (QoSOperationQueue(scheduler: scheduler), QoSOperationQueue(scheduler: scheduler))
                let last = QoSOperation(name: "last", level: .utility) { 7 }
                let isClaimed = Gate()
                let (list, raised, end) = try await list(on: scheduler, last: last) {
                    let barrier = queue.addBarrier(level: .utility) {}
                    #expect(throws: Never.self) { try last.addDependency(barrier) }
                    isClaimed.open()
                }
                let thread = QoSThread(name: "adds") {
                    isClaimed.blockThread()
                    // A thread that only spins keeps the engine's lock from all others.
                    while (try? other.add(last)) == nil { sched_yield() }
                }
                try thread.start()
                #expect(!circle(adding: list, to: queue).isEmpty)
                try await thread.value
                #expect(throws: OperationError.addedTwice("last")) { try third.add(last) }
                end.open()
                try await raised.value
                #expect(try await last.value == 7)
                try await queue.waitUntilAllFinished()
            }
        }
    }
}
