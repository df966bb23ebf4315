import QoSCore
import QoSOperations
import QoSRuntime
import QoSRuntimeTestSupport
import Testing

@Suite("Graphs that are built and run at once", .timeLimit(.minutes(5)))
struct GroupTests {
    struct Broken: Error, Equatable {}

    @Test("Fan-out, fan-in, combination and chains return their results")
    func results() async throws {
        try await withScheduler { scheduler in
            let queue = QoSOperationQueue(scheduler: scheduler, level: .utility)
            let sum = try await queue.run { group in
                let squares = group.fanOut(1...10) { $0 * $0 }
                let doubled = squares.map { square in group.then(square) { $0 * 2 } }
                return group.fanIn(doubled) { $0.reduce(0, +) }
            }
            #expect(sum == 770)
            let text = try await queue.run { group in
                let (number, word) = (group.add { 3 }, group.add { "three" })
                return group.combine(number, word) { "\($0) is \($1)" }
            }
            #expect(text == "3 is three")
            let value1 = try await queue.run { $0.chain(0, 1...1000) { $0 + $1 } }
            #expect(value1 == 500_500)
            let value2 = try await queue.run { $0.chain(7, [Int]()) { $0 + $1 } }
            #expect(value2 == 7)
        }
    }

    @Test("A failure ends what depends on it and is thrown; the rest runs")
    func failure() async throws {
        try await withScheduler { scheduler in
            let queue = QoSOperationQueue(scheduler: scheduler)
            let ran = Tally()
            await #expect(throws: Broken()) {
                try await queue.runAll { group in
                    let broken = group.add { () async throws -> Int in throw Broken() }
                    group.then(broken) { _ in ran.add() }
                    group.add { ran.add() }
                }
            }
            #expect(ran.value == 1)
        }
    }

    @Test("Cancelling the surrounding task cancels the graph")
    func cancellation() async throws {
        try await withScheduler { scheduler in
            let queue = QoSOperationQueue(scheduler: scheduler)
            let (started, ran) = (Gate(), Tally())
            let task = Task {
                try await queue.run { group in
                    let endless = group.add {
                        started.open()
                        try await Task.sleep(for: .seconds(86_400))
                    }
                    return group.then(endless) { ran.add() }
                }
            }
            await started.passed()
            task.cancel()
            await #expect(throws: (any Error).self) { try await task.value }
            #expect(ran.value == 0 && queue.operationCount == 0)
        }
    }

    @Test("What the building body throws leaves the operations unrun")
    func buildFails() async throws {
        try await withScheduler { scheduler in
            let queue = QoSOperationQueue(scheduler: scheduler)
            let ran = Tally()
            await #expect(throws: Broken()) {
                try await queue.run { group -> QoSOperation<Int> in
                    group.add { ran.add() }
                    throw Broken()
                }
            }
            #expect(queue.operationCount == 0 && ran.value == 0)
        }
    }

    @Test(
        "O9 all operations of a graph rise to the level of the task that runs it, also later; else it does not end"
    )
    func raised() async throws {
        try await withScheduler { scheduler in
            let queue = QoSOperationQueue(scheduler: scheduler, isSuspended: true)
            let built = Collected<QoSOperation<Void>>()
            let executor = scheduler.executor(for: .utility)
            let task = Task.detached(executorPreference: executor, priority: .utility) {
                try await queue.runAll { group in
                    for _ in 0..<3 { built.append(group.add(OperationOptions(level: .background)) {}) }
                }
            }
            while built.all.count < 3 || built.all.contains(where: { $0.effectiveLevel != .utility }) {
                await Task.yield()
            }
            scheduler.raise(task, to: .userInitiated)
            while built.all.contains(where: { $0.effectiveLevel != .userInitiated }) { await Task.yield() }
            try queue.resume()
            try await task.value
        }
    }

    @Test("O10 a graph whose operations would wait for one another is refused, and cancelled")
    func deadlock() async throws {
        try await withScheduler { scheduler in
            let queue = QoSOperationQueue(scheduler: scheduler)
            let (front, behind) = (QoSOperation(name: "front") {}, QoSOperation(name: "behind") {})
            let barrier = QoSOperation(OperationOptions(name: "barrier", isBarrier: true), body: {})
            try front.addDependency(behind)
            let operations = [front, barrier, behind]
            await #expect(throws: OperationError.self) {
                try await queue.runAll { group in
                    for operation in operations { group.add(operation) }
                }
            }
            #expect(operations.map(\.outcome) == [.cancelled, .cancelled, .cancelled])
        }
    }

    @Test("A graph with an operation that was added elsewhere is refused, and nothing of it is cancelled")
    func addedTwice() async throws {
        try await withScheduler { scheduler in
            let (queue, other) = (QoSOperationQueue(scheduler: scheduler), QoSOperationQueue(scheduler: scheduler))
            let (added, fresh) = (QoSOperation(name: "added") { 1 }, QoSOperation(name: "fresh") { 2 })
            other.suspend()
            try other.add(added)
            await #expect(throws: OperationError.addedTwice("added")) {
                try await queue.runAll { group in
                    for operation in [fresh, added] { group.add(operation) }
                }
            }
            #expect(!fresh.isCancelled && !added.isCancelled)
            try other.resume()
            try other.add(fresh)
            let values = try await (added.value, fresh.value)
            #expect(values == (1, 2))
        }
    }
}
