import QoSCore
import QoSOperations
import QoSRuntime
import QoSRuntimeTestSupport
import Testing

@Suite("Operations that are cancelled, fail, or are misused")
struct CancellationTests {
    struct Broken: Error, Equatable {}

    @Test("O11 an operation cancelled before it starts does not run, and what waits for it goes on")
    func cancelWaiting() async throws {
        try await withScheduler { scheduler in
            let queue = QoSOperationQueue(scheduler: scheduler, isSuspended: true)
            let ran = Tally()
            let cancelled = queue.addOperation { ran.add() }
            cancelled.cancel()
            cancelled.cancel()
            #expect(cancelled.outcome == .cancelled)
            await #expect(throws: CancellationError.self) { try await cancelled.value }
            try await queue.waitUntilAllFinished()
            let early = QoSOperation { ran.add() }
            early.cancel()
            try queue.add(early)
            #expect(queue.operationCount == 0 && ran.value == 0)
        }
    }

    @Test("O11 cancelling a running operation cancels its task, and no other operation's")
    func cancelRunning() async throws {
        try await withScheduler { scheduler in
            let queue = QoSOperationQueue(scheduler: scheduler, maxConcurrent: .one)
            for _ in 0..<200 {
                let started = Gate()
                let cancelled = queue.addOperation {
                    started.open()
                    while !Task.isCancelled { await Task.yield() }
                    try Task.checkCancellation()
                }
                let next = queue.addOperation { Task.isCancelled }
                await started.passed()
                cancelled.cancel()
                let value1 = try await next.value
                #expect(value1 == false)
                #expect(cancelled.outcome == .cancelled)
            }
        }
    }

    @Test("O11 a cancellation that comes as an operation ends does not meet the next one of its task")
    func lateCancel() async throws {
        try await withScheduler { scheduler in
            let queue = QoSOperationQueue(scheduler: scheduler, maxConcurrent: .one)
            for _ in 0..<500 {
                let first = queue.addOperation {}
                let second = queue.addOperation { Task.isCancelled }
                first.cancel()
                let value2 = try await second.value
                #expect(value2 == false)
            }
        }
    }

    @Test("O11 an operation that cancels its own task cancels no operation that comes after it")
    func cancelsItself() async throws {
        try await withScheduler { scheduler in
            let queue = QoSOperationQueue(scheduler: scheduler, maxConcurrent: .one, isSuspended: true)
            queue.addOperation(level: .utility) { () async -> Void in
                unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
                await Task.yield()
            }
            let others = (0..<3).map { _ in queue.addOperation(level: .utility) { Task.isCancelled } }
            try queue.resume()
            // Raised, they would be run by other tasks in any case.
            try await queue.waitUntilAllFinished(promotes: false)
            for other in others {
                let isCancelled = try other.result?.get()
                #expect(isCancelled == false)
            }
        }
    }

    @Test("O11 dependents of a failure are cancelled or run anyway, by their policy")
    func policies() async throws {
        try await withScheduler { scheduler in
            let queue = QoSOperationQueue(scheduler: scheduler)
            let failing = QoSOperation { () async throws -> Int in throw Broken() }
            let dependent = QoSOperation(name: "dependent") { 1 }
            let below = QoSOperation(name: "below") { 2 }
            let anyway = QoSOperation(OperationOptions(onFailedDependency: .runAnyway), body: { 3 })
            try dependent.addDependency(failing)
            try below.addDependency(dependent)
            try anyway.addDependency(failing)
            try queue.add([below, dependent, anyway, failing])
            await #expect(throws: OperationError.dependencyFailed("below")) { try await below.value }
            await #expect(throws: OperationError.dependencyFailed("dependent")) { try await dependent.value }
            let value3 = try await anyway.value
            #expect(value3 == 3)
            let late = QoSOperation(name: "late") { 4 }
            try late.addDependency(failing)
            try queue.add(late)
            await #expect(throws: OperationError.dependencyFailed("late")) { try await late.value }
        }
    }

    @Test("A parent that is released without having been added counts as cancelled")
    func lostParent() async throws {
        try await withScheduler { scheduler in
            let queue = QoSOperationQueue(scheduler: scheduler)
            let child = QoSOperation(name: "child") { 1 }
            try child.addDependency(QoSOperation {})
            try queue.add(child)
            await #expect(throws: OperationError.dependencyFailed("child")) { try await child.value }
        }
    }

    @Test("O10 a cycle is refused by the names of its operations")
    func cycle() throws {
        let (first, second, third) = (
            QoSOperation(name: "a") {}, QoSOperation(name: "b") {}, QoSOperation(name: "c") {}
        )
        try second.addDependency(first)
        try third.addDependency(second)
        #expect(throws: OperationError.dependencyCycle(["a", "c", "b"])) { try first.addDependency(third) }
        #expect(throws: OperationError.dependencyCycle(["a"])) { try first.addDependency(first) }
        #expect("\(OperationError.dependencyCycle(["a", "c", "b"]))".contains("a → c → b → a"))
    }

    @Test("O10 a started operation takes no dependency")
    func dependencyAfterStart() async throws {
        try await withScheduler { scheduler in
            let (started, gate) = (Gate(), Gate())
            let queue = QoSOperationQueue(scheduler: scheduler)
            let running = queue.addOperation(name: "running") {
                started.open()
                await gate.passed()
            }
            await started.passed()
            let refused = OperationError.dependencyAfterStart("running")
            #expect(throws: refused) { try running.addDependency(QoSOperation {}) }
            gate.open()
            try await running.waitUntilFinished()
            #expect(throws: refused) { try running.addDependency(QoSOperation {}) }
        }
    }

    @Test("An operation is added once; a list with one that was added is refused as a whole")
    func addedTwice() async throws {
        try await withScheduler { scheduler in
            let (one, other) = (QoSOperationQueue(scheduler: scheduler), QoSOperationQueue(scheduler: scheduler))
            let (operation, fresh) = (QoSOperation(name: "it") {}, QoSOperation(name: "fresh") {})
            try one.add(operation)
            #expect(throws: OperationError.addedTwice("it")) { try other.add([fresh, operation]) }
            #expect(throws: OperationError.addedTwice("fresh")) { try other.add([fresh, fresh]) }
            try await operation.waitUntilFinished()
            #expect(throws: OperationError.addedTwice("it")) { try one.add(operation) }
            try other.add(fresh)
            try await fresh.waitUntilFinished()
            #expect(fresh.outcome == .succeeded)
        }
    }

    @Test("Limits that are not positive and resuming what is not suspended are refused")
    func refused() async throws {
        try await withScheduler { scheduler in
            #expect(throws: OperationError.invalidLimit(0)) { try ConcurrencyLimit.atMost(0) }
            let queue = QoSOperationQueue("queue", scheduler: scheduler)
            #expect(throws: OperationError.notSuspended("queue")) { try queue.resume() }
        }
    }

    @Test("An operation that never ends keeps its place and nothing else; cancelled, it may end")
    func neverFinished() async throws {
        try await withScheduler { scheduler in
            let queue = QoSOperationQueue(scheduler: scheduler, maxConcurrent: try .atMost(2))
            let endless = queue.addOperation { try await Task.sleep(for: .seconds(86_400)) }
            let others = (0..<100).map { number in queue.addOperation { number } }
            for other in others { try await other.waitUntilFinished() }
            #expect(queue.operationCount == 1 && !endless.isFinished)
            queue.cancelAllOperations()
            try await queue.waitUntilAllFinished()
            #expect(endless.outcome == .cancelled)
        }
    }

    @Test("An operation that would wait for itself is told so")
    func waitsForItself() async throws {
        try await withScheduler { scheduler in
            let queue = QoSOperationQueue(scheduler: scheduler)
            let holder = Collected<QoSOperation<Int>>()
            let gate = Gate()
            let operation = queue.addOperation(name: "it") { () async throws -> Int in
                await gate.passed()
                return try await holder.all[0].value
            }
            holder.append(operation)
            gate.open()
            await #expect(throws: OperationError.waitsForItself("it")) { try await operation.value }
            let blocking = queue.addOperation(name: "blocking") { try Self.block(queue) }
            await #expect(throws: OperationError.waitsForItself("blocking")) { try await blocking.value }
        }
    }

    private static func block(_ queue: QoSOperationQueue) throws { try queue.blockUntilAllFinished() }

    @Test("A queue that is released runs what was added, suspended or not", arguments: [true, false])
    func releasedQueue(isSuspended: Bool) async throws {
        try await withScheduler { scheduler in
            var queue: QoSOperationQueue? = QoSOperationQueue(scheduler: scheduler, isSuspended: isSuspended)
            let operations = (0..<200).map { number in queue?.addOperation { number } }
            queue = nil
            for (number, operation) in operations.enumerated() {
                let value4 = try await operation?.value
                #expect(value4 == number)
            }
        }
    }

    @Test("A hundred thousand operations depend on one")
    func manyDependents() async throws {
        try await withScheduler { scheduler in
            let queue = QoSOperationQueue(scheduler: scheduler)
            let one = QoSOperation { 1 }
            let ran = Tally()
            let others = (0..<100_000).map { _ in QoSOperation { _ = ran.add() } }
            for other in others { try other.addDependency(one) }
            try queue.add(others)
            #expect(ran.value == 0)
            try queue.add(one)
            try await queue.waitUntilAllFinished()
            #expect(ran.value == 100_000)
        }
    }
}
