import QoSCore
import QoSOperations
import QoSRuntime
import QoSRuntimeTestSupport
import Testing

@Suite("Operations run")
struct RunningTests {
    struct Broken: Error, Equatable {}

    struct Square: OperationBody {
        let number: Int
        func run(_ context: OperationContext) async throws -> Int {
            #expect(context.operation.name == "Square")
            return number * number
        }
    }

    @Test("An operation's value is what its body returned; its error what it threw")
    func values() async throws {
        try await withScheduler { scheduler in
            let queue = QoSOperationQueue(scheduler: scheduler)
            let good = queue.addOperation { 42 }
            let bad = queue.addOperation(name: "bad") { () async throws -> Int in throw Broken() }
            let square = QoSOperation(Square(number: 7))
            try queue.add(square)
            let value1 = try await good.value
            #expect(value1 == 42)
            let value2 = try await square.value
            #expect(value2 == 49)
            await #expect(throws: Broken()) { try await bad.value }
            #expect(good.outcome == .succeeded && bad.outcome == .failed)
        }
    }

    @Test("Dependencies hold across queues and schedulers, and give their results")
    func acrossQueues() async throws {
        try await withScheduler { scheduler in
            try await withScheduler { other in
                let one = QoSOperationQueue("one", scheduler: scheduler, level: .utility)
                let two = QoSOperationQueue("two", scheduler: other, level: .background, maxConcurrent: .one)
                let first = QoSOperation { 1 }
                let second = QoSOperation { try await first.value + 1 }
                let third = QoSOperation { try await second.value + 1 }
                try second.addDependency(first)
                try third.addDependency(second)
                try one.add(third)
                try two.add(second)
                try one.add(first)
                let value3 = try await third.value
                #expect(value3 == 3)
            }
        }
    }

    @Test("No more than the limit run at the same time, and barriers run alone", arguments: [1, 2, 5])
    func limits(count: Int) async throws {
        try await withScheduler { scheduler in
            let queue = QoSOperationQueue(scheduler: scheduler, maxConcurrent: try .atMost(count))
            let (running, most, before) = (Tally(), Collected<Int>(), Tally())
            let left = Tally()
            let body: @Sendable () async -> Void = {
                most.append(running.add() - left.value)
                await Task.yield()
                before.add()
                left.add()
            }
            for _ in 0..<50 { queue.addOperation(body) }
            let barrier = queue.addBarrier { (before.value, running.value) }
            for _ in 0..<50 { queue.addOperation(body) }
            let seen = try await barrier.value
            #expect(seen == (50, 50))
            try await queue.waitUntilAllFinished()
            #expect(before.value == 100)
            #expect(most.all.allSatisfy { $0 <= count }, "\(most.all)")
        }
    }

    @Test("A suspended queue starts nothing until it is resumed")
    func suspended() async throws {
        try await withScheduler { scheduler in
            let queue = QoSOperationQueue(scheduler: scheduler, isSuspended: true)
            let operations = (0..<100).map { number in queue.addOperation { number } }
            #expect(queue.operationCount == 100 && queue.isSuspended)
            #expect(operations.allSatisfy { !$0.isFinished && !$0.isRunning })
            try queue.resume()
            for (number, operation) in operations.enumerated() {
                let value5 = try await operation.value
                #expect(value5 == number)
            }
            queue.suspend()
            queue.suspend()
            let last = queue.addOperation { 1 }
            #expect(queue.operations.map(\.name) == [last.name])
            try queue.resume()
            #expect(queue.isSuspended && !last.isRunning)
            try queue.resume()
            #expect(!queue.isSuspended)
            try await queue.waitUntilAllFinished()
            #expect(last.isFinished)
        }
    }

    @Test("A hundred thousand operations, of which each runs once")
    func many() async throws {
        try await withScheduler { scheduler in
            let queue = QoSOperationQueue(scheduler: scheduler, level: .utility)
            let ran = Tally()
            try queue.add((0..<100_000).map { _ in QoSOperation { _ = ran.add() } })
            try await queue.waitUntilAllFinished()
            #expect(ran.value == 100_000)
            #expect(queue.progress.finished == 100_000 && queue.progress.fraction == 1)
        }
    }

    @Test("A chain in which each body holds the operation before: run, and released without having run")
    func longChain() async throws {
        try await withScheduler { scheduler in
            let count = 200_000
            for runs in [true, false] {
                let queue = QoSOperationQueue(scheduler: scheduler, isSuspended: true)
                var last = QoSOperation { 1 }
                var all: [BaseOperation] = [last]
                for _ in 1..<count {
                    let before = last
                    last = QoSOperation { try await before.value + 1 }
                    try last.addDependency(before)
                    all.append(last)
                }
                if runs {
                    try queue.add(all)
                    try queue.resume()
                    let value4 = try await last.value
                    #expect(value4 == count)
                }
                // From here each operation is held by the body of the one after it alone.
                all = []
            }
        }
    }

    @Test("Operations that need more than they have time for leave the pool to others")
    func fairness() async throws {
        try await withScheduler(.init(processors: 1, appliesKernelEffects: false, detectsBlocking: false)) {
            scheduler in
            let queue = QoSOperationQueue(scheduler: scheduler, level: .utility)
            let end = Tally()
            let (begun, release) = (Gate(), Gate())
            let first = QoSOperation {
                begun.open()
                release.blockThread()
            }
            // Operations of one class that follow each other in one task: others of the class must get between them.
            try queue.add([first] + (0..<20_000).map { _ in QoSOperation { _ = end.add() } })
            await begun.passed()
            let other = Task(executorPreference: scheduler.executor(for: .utility), priority: .utility) { end.value }
            release.open()
            #expect(await other.value < 20_000)
            try await queue.waitUntilAllFinished()
        }
    }
}
