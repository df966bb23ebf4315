import QoSCore
import QoSKernel
import QoSOperations
import QoSRuntime
import QoSRuntimeTestSupport
import Synchronization
import Testing

/// Inputs that a user can give by mistake.
@Suite("Operations at their edges", .timeLimit(.minutes(5)))
struct EdgeTests {
    private func withQueue(
        _ limit: ConcurrencyLimit = .automatic, isSuspended: Bool = false,
        _ body: (QoSOperationQueue) async throws -> Void
    ) async throws {
        try await withScheduler { scheduler in
            try await body(QoSOperationQueue(scheduler: scheduler, maxConcurrent: limit, isSuspended: isSuspended))
        }
    }

    @Test("O10 a refused cycle is told by the names of all its operations, before any of them is in a queue")
    func cycleNames() throws {
        let operations = ["a", "b", "c", "d"].map { QoSOperation(name: $0) {} }
        for (child, parent) in zip(operations, operations.dropFirst()) { try child.addDependency(parent) }
        #expect(throws: OperationError.dependencyCycle(["d", "a", "b", "c"])) {
            try operations[3].addDependency(operations[0])
        }
        #expect(throws: OperationError.dependencyCycle(["a"])) { try operations[0].addDependency(operations[0]) }
    }

    @Test("O11 O9 a thread without a level that waits for an operation in no queue goes on when that is cancelled")
    func cancelledUnadded() throws {
        let operation = QoSOperation(name: "never added") {}
        let hasEnded = Atomic(false)
        let isWaiting = Atomic(false)
        let thread = try Thread(name: "waiter") {
            isWaiting.store(true, ordering: .sequentiallyConsistent)
            try? operation.blockUntilFinished()
            hasEnded.store(true, ordering: .sequentiallyConsistent)
        }
        while !isWaiting.load(ordering: .sequentiallyConsistent) {}
        // Most of the time the wait has begun by then; whether or not, it has to end.
        for _ in 0..<2000 { _ = operation.isFinished }
        operation.cancel()
        #expect(operation.outcome == .cancelled)
        try thread.join()
        let isOver = hasEnded.load(ordering: .sequentiallyConsistent)
        #expect(isOver)
    }

    @Test("O11 the progress of an operation that is cancelled in no queue ends")
    func progressOfCancelled() async throws {
        let operation = QoSOperation(name: "never added") {}
        let updates = operation.progress.updates
        operation.cancel()
        var last: OperationProgress.State?
        for await state in updates { last = state }
        #expect(last?.isFinished == true)
        #expect(operation.progress.current.isFinished)
    }

    @Test("an operation's progress that is first asked for after the end is finished")
    func progressAfterwards() async throws {
        try await withQueue { queue in
            let operation = queue.addOperation { 1 }
            _ = try await operation.value
            #expect(operation.progress.current.isFinished)
            for await _ in operation.progress.updates {}
        }
    }

    @Test("O8 a body reads its own level, its queue and the current level")
    func readsItself() async throws {
        try await withQueue { queue in
            let operation = queue.addOperation(OperationOptions(name: "self", level: .utility)) { context in
                (context.operation.effectiveLevel, context.operation.isRunning, queue.operationCount, QoS.currentLevel)
            }
            let seen = try await operation.value
            #expect(seen.1)
            #expect(seen.2 == 1)
            #expect(try #require(seen.0) >= .utility)
        }
    }

    @Test("O9 what is added to a queue while somebody waits for all of it is waited for, too; and no longer than that")
    func addedDuringWait() async throws {
        try await withQueue { queue in
            let (gate, opening) = AsyncStream.makeStream(of: Void.self)
            let first = queue.addOperation(level: .background) { for await _ in gate {} }
            let waiter = Task(priority: .high) { try await queue.waitUntilAllFinished() }
            while first.effectiveLevel != .userInitiated { await Task.yield() }
            let parent = QoSOperation(level: .background) {}
            let later = QoSOperation(level: .utility) {}
            try later.addDependency(parent)
            try queue.add(later)
            #expect(later.effectiveLevel == .userInitiated)
            #expect(parent.effectiveLevel == .userInitiated)
            try queue.add(parent)
            opening.finish()
            try await waiter.value
            let afterwards = queue.addOperation(level: .background) {}
            while !afterwards.isFinished { await Task.yield() }
            #expect(afterwards.effectiveLevel == .background)
        }
    }

    @Test("O6 O8 conditions that are being asked are raised with their operation")
    func raisedDuringConditions() async throws {
        try await withQueue { queue in
            let seen = Collected<TaskPriority>()
            let (asked, isAsked) = AsyncStream.makeStream(of: Void.self)
            let (gate, opening) = AsyncStream.makeStream(of: Void.self)
            let condition = OperationCondition("gate") {
                isAsked.finish()
                for await _ in gate {}
                seen.append(Task.currentPriority)
            }
            let operation = queue.addOperation(OperationOptions(level: .background, conditions: [condition])) { _ in ()
            }
            for await _ in asked {}
            operation.level = .userInitiated
            opening.finish()
            while !operation.isFinished { await Task.yield() }
            #expect(seen.all == [.high])
        }
    }

    @Test("O11 all operations of a queue are cancelled at once, whatever depends on whatever, and each ends once")
    func cancelAll() async throws {
        try await withQueue(.one, isSuspended: true) { queue in
            var all: [QoSOperation<Int>] = []
            for number in 0..<500 {
                let options = OperationOptions(onFailedDependency: number % 3 == 0 ? .runAnyway : .cancel)
                let operation = QoSOperation(options) { _ in number }
                if number % 2 == 1, let last = all.last { try operation.addDependency(last) }
                all.append(operation)
            }
            try queue.add(all)
            try queue.resume()
            queue.cancelAllOperations()
            try await queue.waitUntilAllFinished()
            #expect(all.allSatisfy { $0.isFinished })
            #expect(queue.operationCount == 0)
            #expect(try await queue.addOperation { 7 }.value == 7)
        }
    }

    @Test("O9 the last reference goes while somebody is resumed: nothing is released under the lock")
    func releases() async throws {
        final class Holder: Sendable {
            let operation: BaseOperation
            init(_ operation: BaseOperation) { self.operation = operation }
            deinit { _ = operation.isFinished }
        }
        try await withQueue(.unlimited) { queue in
            for round in 0..<300 {
                let inner = QoSOperation(name: "inner") {}
                let holder = Holder(inner)
                let outer = QoSOperation(name: "outer") { withExtendedLifetime(holder) {} }
                try outer.addDependency(inner)
                if round % 2 == 0 { outer.cancel() }
                try queue.add([inner, outer])
            }
            try await queue.waitUntilAllFinished()
        }
    }

    @Test("a chain of 200 000 operations, each holding the one before, is released without recursion")
    func releaseOfChain() async throws {
        var last = QoSOperation { 0 }
        for _ in 0..<200_000 {
            let before = last
            last = QoSOperation { try await before.value + 1 }
        }
        last = QoSOperation { 0 }
        #expect(last.outcome == nil)
    }

    @Test(
        "a chain of 200 000 operations, each held by a condition or an end closure of the next, goes without recursion",
        arguments: [true, false])
    func releaseOfClosures(areConditions: Bool) async throws {
        var last = QoSOperation { 0 }
        for _ in 0..<200_000 {
            let before = last
            if areConditions {
                let condition = OperationCondition("holds") { withExtendedLifetime(before) {} }
                last = QoSOperation(OperationOptions(conditions: [condition]), body: { 0 })
            } else {
                last = QoSOperation { 0 }
                last.whenFinished { _ in withExtendedLifetime(before) {} }
            }
        }
        last = QoSOperation { 0 }
        #expect(last.outcome == nil)
    }

    @Test("operations that are created, cancelled, raised and awaited by many tasks all end", arguments: 0..<5)
    func storm(round: Int) async throws {
        try await withQueue(round % 2 == 0 ? .automatic : .one) { queue in
            let workers = (0..<6).map { worker in Task { try await Self.storm(worker, queue) } }
            for worker in workers { try await worker.value }
            try await queue.waitUntilAllFinished()
            #expect(queue.operationCount == 0)
        }
    }

    @concurrent
    private static func storm(_ worker: Int, _ queue: QoSOperationQueue) async throws {
        var recent: [QoSOperation<Int>] = []
        for number in 0..<300 {
            let level: QoSLevel? = [nil, .utility, .userInitiated, .background][(number + worker) % 4]
            let operation = QoSOperation(name: "\(worker).\(number)", level: level) { number }
            if let parent = recent.last, number % 3 == 0 { try? operation.addDependency(parent) }
            try? queue.add(operation)
            switch number % 7 {
            case 1: recent.first?.cancel()
            case 2: recent.last?.level = .userInitiated
            case 3: queue.level = number % 2 == 0 ? .utility : .default
            case 4: _ = try? await operation.value
            default: break
            }
            recent.append(operation)
            if recent.count > 8 { recent.removeFirst() }
        }
        for operation in recent { try await operation.waitUntilFinished() }
    }
}
