import QoSCore
import QoSOperations
import QoSRuntime
import QoSRuntimeTestSupport
import ServiceContextModule
import Testing

@Suite("Operations that are watched from outside", .timeLimit(.minutes(5)))
struct WatchingTests {
    struct Broken: Error {}

    @Test("The states of an operation, each in its turn, up to its end; for each watcher")
    func states() async throws {
        try await withScheduler { scheduler in
            let queue = QoSOperationQueue(scheduler: scheduler, isSuspended: true)
            let gate = Gate()
            let operation = QoSOperation { await gate.passed() }
            var (watcher, other) = (operation.states.makeAsyncIterator(), operation.states.makeAsyncIterator())
            #expect(await watcher.next() == .created)
            try queue.add(operation)
            #expect(await watcher.next() == .waiting)
            #expect(operation.state == .waiting && operation.isReady && !operation.isRunning)
            try queue.resume()
            #expect(await watcher.next() == .running)
            #expect(operation.isRunning && !operation.isReady)
            gate.open()
            #expect(await watcher.next() == .finished(.succeeded))
            #expect(await watcher.next() == nil)
            #expect(await other.next() == .finished(.succeeded), "what it did not take is passed over")
            #expect(await other.next() == nil)
            var afterwards: [OperationState] = []
            for await state in operation.states { afterwards.append(state) }
            #expect(afterwards == [.finished(.succeeded)])
        }
    }

    @Test("Watching ends with the task that watches, and with an operation that never runs")
    func watchingEnds() async throws {
        let operation = QoSOperation {}
        let watching = Gate()
        let watcher = Task {
            for await _ in operation.states { watching.open() }
        }
        await watching.passed()
        watcher.cancel()
        await watcher.value
        var states = operation.states.makeAsyncIterator()
        #expect(await states.next() == .created)
        operation.cancel()
        #expect(await states.next() == .finished(.cancelled))
        #expect(operation.isCancelled)
    }

    @Test(
        "O8 X1 what is called at the end is told the outcome, with the operation's level and context",
        arguments: OperationOutcome.allCases)
    func completion(outcome: OperationOutcome) async throws {
        try await withScheduler { scheduler in
            let queue = QoSOperationQueue(scheduler: scheduler, isSuspended: true)
            let (called, gate) = (Collected<OperationOutcome>(), Gate())
            let calls = Gate()
            let parent = QoSOperation { () async throws -> Void in throw Broken() }
            let operation = inContext { id in
                QoSOperation(name: "it", level: .utility) {
                    if outcome == .failed { throw Broken() }
                    return id
                }
            }
            operation.whenFinished { called.append($0) }
            operation.whenFinished { outcome in
                called.append(outcome)
                #expect(BaseOperation.current === operation)
                #expect(QoS.currentLevel == .utility)
                #expect(ServiceContext.current?[RequestKey.self] == 7)
                calls.open()
            }
            if outcome == .dependencyFailed { try operation.addDependency(parent) }
            try queue.add([parent, operation])
            if outcome == .cancelled { operation.cancel() }
            try queue.resume()
            await calls.passed()
            #expect(called.all == [outcome, outcome])
            #expect(operation.outcome == outcome)
            operation.whenFinished { late in
                called.append(late)
                gate.open()
            }
            await gate.passed()
            #expect(called.all.count == 3)
            try await queue.waitUntilAllFinished()
        }
    }

    private enum RequestKey: ServiceContextKey {
        typealias Value = Int
    }

    private func inContext<Success>(_ body: (Int) -> Success) -> Success {
        var context = ServiceContext.topLevel
        context[RequestKey.self] = 7
        return ServiceContext.withValue(context) { body(7) }
    }

    @Test("The current operation is that of the body, of its child tasks, and of nobody outside")
    func current() async throws {
        try await withScheduler { scheduler in
            let queue = QoSOperationQueue(scheduler: scheduler)
            let operation = queue.addOperation(OperationOptions(name: "it")) { context in
                async let inChild = BaseOperation.current === context.operation
                let here = BaseOperation.current === context.operation
                return await (here, inChild, Task.detached { BaseOperation.current == nil }.value)
            }
            let isCurrent = try await operation.value
            #expect(isCurrent == (true, true, true))
            #expect(BaseOperation.current == nil)
        }
    }

    @Test("O11 an operation that was cancelled says so while it runs, and when its body returned all the same")
    func cancelled() async throws {
        try await withScheduler { scheduler in
            let queue = QoSOperationQueue(scheduler: scheduler)
            let (started, gate) = (Gate(), Gate())
            let operation = queue.addOperation {
                started.open()
                await gate.passed()
                return 1
            }
            await started.passed()
            #expect(!operation.isCancelled)
            operation.cancel()
            #expect(operation.isCancelled && operation.isRunning)
            gate.open()
            #expect(try await operation.value == 1)
            #expect(operation.outcome == .succeeded && operation.isCancelled)
            operation.cancel()
            let untouched = queue.addOperation {}
            try await untouched.waitUntilFinished()
            untouched.cancel()
            #expect(!untouched.isCancelled, "it had ended")
        }
    }
}
