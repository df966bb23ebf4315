import QoSCore
import QoSOperations
import QoSRuntime
import QoSRuntimeTestSupport
import Testing

/// Operations that would wait for one another for ever: told, and not done.
@Suite("Operations that would wait for ever", .timeLimit(.minutes(5)))
struct DeadlockTests {
    private func block(_ operation: BaseOperation) throws { try operation.blockUntilFinished() }

    private func block(_ queue: QoSOperationQueue) throws { try queue.blockUntilAllFinished() }

    /// The way in which a body waits.
    enum Way: CaseIterable {
        case finished, value, blocking
        /// In a child task, and in a child of a child.
        case asyncLet, group
    }

    private func wait(_ way: Way, _ operation: QoSOperation<Int>) async throws {
        switch way {
        case .finished: try await operation.waitUntilFinished()
        case .value: _ = try await operation.value
        case .blocking: try block(operation)
        case .asyncLet:
            async let wait: Void = operation.waitUntilFinished()
            try await wait
        case .group:
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    async let value = operation.value
                    _ = try await value
                }
                group.addTask {}
                try await group.waitForAll()
            }
        }
    }

    @Test("O9 an operation that waits for itself is told so, by its name", arguments: Way.allCases)
    func itself(way: Way) async throws {
        try await withScheduler { scheduler in
            let queue = QoSOperationQueue(scheduler: scheduler)
            let operation = queue.addOperation(OperationOptions(name: "it")) { context in
                guard let it = context.operation as? QoSOperation<Int> else { return 0 }
                try await wait(way, it)
                return 1
            }
            await #expect(throws: OperationError.waitsForItself("it")) { try await operation.value }
        }
    }

    @Test("O9 an operation that waits for the whole queue that it runs in is told so", arguments: [true, false])
    func ownQueue(blocks: Bool) async throws {
        try await withScheduler { scheduler in
            let queue = QoSOperationQueue(scheduler: scheduler)
            let operation = queue.addOperation(name: "it") {
                if blocks { try block(queue) } else { try await queue.waitUntilAllFinished() }
            }
            await #expect(throws: OperationError.waitsForItself("it")) { try await operation.value }
            try await queue.waitUntilAllFinished()
        }
    }

    @Test("O9 a condition that waits for its own operation is told so, and ends it")
    func condition() async throws {
        try await withScheduler { scheduler in
            let queue = QoSOperationQueue(scheduler: scheduler)
            let condition = OperationCondition("itself") { try await BaseOperation.current?.waitUntilFinished() }
            let operation = queue.addOperation(OperationOptions(name: "it", conditions: [condition])) { 1 }
            await #expect(throws: OperationError.waitsForItself("it")) { try await operation.value }
            #expect(operation.outcome == .failed)
        }
    }

    @Test("O9 O10 an operation that waits for one which depends on it is told the circle", arguments: Way.allCases)
    func dependent(way: Way) async throws {
        try await withScheduler { scheduler in
            let queue = QoSOperationQueue(scheduler: scheduler)
            let (middle, last) = (QoSOperation(name: "middle") { 2 }, QoSOperation(name: "last") { 3 })
            let first = QoSOperation(name: "first") { try await wait(way, last) }
            try middle.addDependency(first)
            try last.addDependency(middle)
            try queue.add([first, middle, last])
            let circle = OperationError.deadlock([
                .init(waiter: "first", awaited: "last", reason: .wait),
                .init(waiter: "last", awaited: "middle", reason: .dependency),
                .init(waiter: "middle", awaited: "first", reason: .dependency),
            ])
            await #expect(throws: circle) { try await first.value }
            #expect("\(circle)".contains("first waits for last, last depends on middle, middle depends on first"))
            #expect(last.outcome == .dependencyFailed)
        }
    }

    @Test("O9 of two operations that wait for each other the second is refused, and both end")
    func mutual() async throws {
        try await withScheduler { scheduler in
            let queue = QoSOperationQueue(scheduler: scheduler)
            let (isKnown, others) = (Gate(), Collected<BaseOperation>())
            let pair = ["a", "b"].map { name in
                queue.addOperation(name: name) {
                    await isKnown.passed()
                    for other in others.all where other.name != name { try await other.waitUntilFinished() }
                }
            }
            for operation in pair { others.append(operation) }
            isKnown.open()
            try await queue.waitUntilAllFinished()
            #expect(Set(pair.map(\.outcome)) == [.succeeded, .failed])
        }
    }

    @Test("O10 a dependency is refused that would close a circle with an operation's wait")
    func laterDependency() async throws {
        try await withScheduler { scheduler in
            while try await !laterDependencyIsRefused(on: scheduler) {}
        }
    }

    /// Tries dependencies until one is refused, because the wait has begun.
    ///
    /// - Returns: `false` if the wait began while a dependency was in place. Then the wait is refused, and the waiter
    ///   ends.
    private func laterDependencyIsRefused(on scheduler: QoSScheduler) async throws -> Bool {
        let (queue, other) = (QoSOperationQueue(scheduler: scheduler), QoSOperationQueue(scheduler: scheduler))
        let awaited = QoSOperation(name: "awaited") {}
        let waiting = Gate()
        let waiter = queue.addOperation(name: "waiter") {
            waiting.open()
            try await awaited.waitUntilFinished()
        }
        await waiting.passed()
        while (try? awaited.addDependency(waiter)) != nil {
            try awaited.removeDependency(waiter)
            if waiter.isFinished { return false }
            await Task.yield()
        }
        #expect(
            throws: OperationError.deadlock([
                .init(waiter: "awaited", awaited: "waiter", reason: .dependency),
                .init(waiter: "waiter", awaited: "awaited", reason: .wait),
            ])
        ) { try awaited.addDependency(waiter) }
        try other.add(awaited)
        try await waiter.value
        return true
    }

    @Test("O9 waiting for a child, for what the body adds, and for the end in a task of its own is no deadlock")
    func allowed() async throws {
        try await withScheduler { scheduler in
            let queue = QoSOperationQueue(scheduler: scheduler)
            let ended = Gate()
            let operation = queue.addOperation(OperationOptions(name: "parent")) { context in
                let child = queue.addOperation(name: "child") { 20 }
                let parent = QoSOperation(name: "first") { 1 }
                let dependent = QoSOperation(name: "second") { try await parent.value + 1 }
                try dependent.addDependency(parent)
                try queue.add([dependent, parent])
                let it = context.operation
                Task {
                    try await it.waitUntilFinished()
                    try await queue.waitUntilAllFinished()
                    ended.open()
                }
                return try await child.value + dependent.value
            }
            let value = try await operation.value
            #expect(value == 22)
            await ended.passed()
        }
    }

    @Test("O9 in a queue that runs one at a time, waiting for what stands behind is refused")
    func serial() async throws {
        try await withScheduler { scheduler in
            let queue = QoSOperationQueue(scheduler: scheduler, maxConcurrent: .one)
            let operation = queue.addOperation(name: "running") {
                try await queue.addOperation(name: "behind") { 1 }.value
            }
            await #expect(
                throws: OperationError.deadlock([
                    .init(waiter: "running", awaited: "behind", reason: .wait),
                    .init(waiter: "behind", awaited: "running", reason: .limit),
                ])
            ) { try await operation.value }
            try await queue.waitUntilAllFinished()
            let nested = queue.addOperation(name: "graph") { try await queue.run { $0.add { 1 } } }
            await #expect(throws: OperationError.self) { try await nested.value }
            try await queue.waitUntilAllFinished()
        }
    }

    @Test("O9 where all places of a queue are taken by those who wait for what is behind, the last one is told who")
    func places() async throws {
        try await withScheduler { scheduler in
            let queue = QoSOperationQueue(scheduler: scheduler, maxConcurrent: try .atMost(3))
            let behind = QoSOperation(name: "behind") { 7 }
            let (begun, goOn) = (Tally(), Gate())
            let waiters = (0..<3).map { number in
                queue.addOperation(name: "w\(number)") {
                    begun.add()
                    await goOn.passed()
                    return try await behind.value
                }
            }
            while begun.value < 3 { await Task.yield() }
            try queue.add(behind)
            goOn.open()
            try await queue.waitUntilAllFinished()
            let results = waiters.map(\.result)
            // Whoever is last is refused, which frees its place.
            #expect(results.filter { (try? $0?.get()) == 7 }.count == 2)
            let refused = results.compactMap { result in
                if case .failure(OperationError.deadlock(let waits)) = result { waits } else { nil }
            }
            let name = try #require(refused.first?.first?.waiter)
            #expect(
                refused == [
                    [
                        .init(waiter: name, awaited: "behind", reason: .wait),
                        .init(waiter: "behind", awaited: name, reason: .limit),
                    ]
                ])
        }
    }

    @Test("O9 a child task that waits for what waits for the operation, while the body waits for something else")
    func twoWaits() async throws {
        try await withScheduler { scheduler in
            let queue = QoSOperationQueue(scheduler: scheduler)
            let goOn = Gate()
            let slow = queue.addOperation(name: "slow") { await goOn.passed() }
            let other = QoSOperation(name: "other", level: .background) { () }
            let parent = queue.addOperation(name: "parent", level: .userInitiated) {
                async let ofChild: Void = other.waitUntilFinished()
                try await slow.waitUntilFinished()
                try await ofChild
            }
            // The child's wait begins at some moment, and raises what it waits for.
            while other.effectiveLevel == .background { await Task.yield() }
            #expect(
                throws: OperationError.deadlock([
                    .init(waiter: "other", awaited: "parent", reason: .dependency),
                    .init(waiter: "parent", awaited: "other", reason: .wait),
                ])
            ) { try other.addDependency(parent) }
            goOn.open()
            try queue.add(other)
            try await parent.value
        }
    }

    @Test("I5 O9 a worker that sleeps until an operation has ended is told of, with both names")
    func blockedWorker() async throws {
        let reports = Collected<InversionReport>()
        let listening = InversionDetection.listen { reports.append($0) }
        defer { InversionDetection.stop(listening) }
        try await withScheduler { scheduler in
            let queue = QoSOperationQueue(scheduler: scheduler)
            let other = QoSOperation(name: "it-that-is-awaited", level: .background) { () }
            let blocking = queue.addOperation(level: .utility) { try block(other) }
            func report() -> InversionReport? { reports.all.first { $0.resource.contains("it-that-is-awaited") } }
            while report() == nil { await Task.yield() }
            try queue.add(other)
            try await blocking.value
            let found = try #require(report())
            #expect(found.kind == .blockedPoolThread)
            #expect(found.waiter.name.contains("'qos-ut-") && found.waiter.level == .utility)
            #expect(found.holder.name == "operation 'it-that-is-awaited'" && found.holder.level == .background)
        }
    }

    @Test("O10 a barrier that depends on what is added behind it is told both names when that is added")
    func barrier() async throws {
        try await withScheduler { scheduler in
            let (queue, other) = (QoSOperationQueue(scheduler: scheduler), QoSOperationQueue(scheduler: scheduler))
            let later = QoSOperation(name: "later") { 1 }
            let barrier = QoSOperation(OperationOptions(name: "barrier", isBarrier: true)) { try await later.value + 1 }
            try barrier.addDependency(later)
            try queue.add(barrier)
            let refusal = OperationError.deadlock([
                .init(waiter: "later", awaited: "barrier", reason: .barrier),
                .init(waiter: "barrier", awaited: "later", reason: .dependency),
            ])
            let innocent = QoSOperation(name: "innocent") { 0 }
            #expect(throws: refusal) { try queue.add(later) }
            #expect(throws: refusal) { try queue.add([innocent, later]) }
            #expect(queue.operationCount == 1)
            // Refused is as before: they may be added where they can run.
            try other.add([innocent, later])
            #expect(try await barrier.value == 2)
        }
    }

    @Test("O10 a barrier that is made to depend on what stands behind it is refused")
    func barrierDependency() async throws {
        try await withScheduler { scheduler in
            let queue = QoSOperationQueue(scheduler: scheduler, isSuspended: true)
            let barrier = queue.addBarrier(name: "barrier") { 1 }
            let behind = queue.addOperation(name: "behind") { 2 }
            #expect(
                throws: OperationError.deadlock([
                    .init(waiter: "barrier", awaited: "behind", reason: .dependency),
                    .init(waiter: "behind", awaited: "barrier", reason: .barrier),
                ])
            ) { try barrier.addDependency(behind) }
            try queue.resume()
            #expect(try await behind.value == 2)
        }
    }

    @Test("O9 a new operation is added behind a circle that it is no part of, and runs when the circle is undone")
    func behindCircle() async throws {
        try await withScheduler { scheduler in
            let queue = QoSOperationQueue(scheduler: scheduler, maxConcurrent: try .atMost(2))
            let other = QoSOperationQueue(scheduler: scheduler)
            let (begun, mayWait, goOn) = (Gate(), Gate(), Gate())
            let behind = QoSOperation(name: "behind", level: .background) { 7 }
            let waiting = queue.addOperation(name: "waiting", level: .utility) {
                begun.open()
                await mayWait.passed()
                return try await behind.value
            }
            let running = queue.addOperation(name: "running", level: .background) { await goOn.passed() }
            await begun.passed()
            try queue.add(behind)
            mayWait.open()
            // The waits raise what they wait for.
            while behind.effectiveLevel != .utility { await Task.yield() }
            queue.maxConcurrent = .one
            let waiter = other.addOperation(name: "waiter", level: .userInitiated) {
                try await queue.waitUntilAllFinished()
            }
            while running.effectiveLevel != .userInitiated { await Task.yield() }
            let added = queue.addOperation { 1 }
            queue.maxConcurrent = try .atMost(2)
            goOn.open()
            #expect(try await added.value == 1)
            #expect(try await waiting.value == 7)
            try await waiter.value
        }
    }

    /// Starts an operation that waits for one which depends on it, and on another one.
    private func startHopeful(
        on queue: QoSOperationQueue, _ way: Way
    ) async throws -> (waiter: QoSOperation<Void>, awaited: QoSOperation<Int>, other: QoSOperation<Void>) {
        let waits = Gate()
        let awaited = QoSOperation(name: "awaited", level: .background) { 3 }
        let waiter = QoSOperation(name: "waiter", level: .userInitiated) {
            waits.open()
            try await wait(way, awaited)
        }
        let other = QoSOperation(name: "other", level: .background) {}
        try awaited.addDependency(waiter)
        try awaited.addDependency(other)
        try queue.add([waiter, awaited])
        await waits.passed()
        // The wait raises what it waits for.
        while other.effectiveLevel != .userInitiated { await Task.yield() }
        return (waiter, awaited, other)
    }

    @Test(
        "O9 a wait goes on while a dependency of the awaited operation may fail, and ends with it",
        arguments: Way.allCases)
    func failureEndsWait(_ way: Way) async throws {
        try await withScheduler { scheduler in
            let queue = QoSOperationQueue(scheduler: scheduler)
            let (waiter, awaited, other) = try await startHopeful(on: queue, way)
            other.cancel()
            // The awaited one ends without running, and so does the wait: by its end, or by its error for a value.
            await awaited.finished()
            await waiter.finished()
            #expect(awaited.outcome == .dependencyFailed)
            if case .failure(let error)? = waiter.result {
                #expect(error as? OperationError == .dependencyFailed("awaited"))
            }
        }
    }

    @Test("O9 … and is refused with its circle once the dependency has succeeded", arguments: Way.allCases)
    func successRefusesWait(_ way: Way) async throws {
        try await withScheduler { scheduler in
            let queue = QoSOperationQueue(scheduler: scheduler)
            let (waiter, awaited, other) = try await startHopeful(on: queue, way)
            try queue.add(other)
            let circle = OperationError.deadlock([
                .init(waiter: "waiter", awaited: "awaited", reason: .wait),
                .init(waiter: "awaited", awaited: "waiter", reason: .dependency),
            ])
            await #expect(throws: circle) { try await waiter.value }
            await awaited.finished()
            #expect(awaited.outcome == .dependencyFailed)
        }
    }

    @Test("O9 a wait for a queue that was refused raises nothing that is added to the queue afterwards")
    func refusedWaitRaisesNothing() async throws {
        try await withScheduler { scheduler in
            let (own, queue) = (QoSOperationQueue(scheduler: scheduler), QoSOperationQueue(scheduler: scheduler))
            let waiter = QoSOperation(name: "waiter", level: .userInitiated) { try await queue.waitUntilAllFinished() }
            let other = QoSOperation(name: "other", level: .background) {}
            let awaited = QoSOperation(name: "awaited", level: .background) {}
            try awaited.addDependency(waiter)
            try awaited.addDependency(other)
            try queue.add(awaited)
            try own.add(waiter)
            // The wait raises what it waits for.
            while other.effectiveLevel != .userInitiated { await Task.yield() }
            try own.add(other)
            await waiter.finished()
            await awaited.finished()
            #expect(waiter.outcome == .failed && queue.operationCount == 0)
            let later = queue.addOperation(level: .background) {}
            #expect(later.effectiveLevel == .background)
            await later.finished()
        }
    }

    @Test("O9 a wait for an operation behind the waiter goes on while that one's condition is asked")
    func conditionEndsWait() async throws {
        struct Unmet: Error {}
        try await withScheduler { scheduler in
            let queue = QoSOperationQueue(scheduler: scheduler, maxConcurrent: .one)
            let (asked, answer) = (Gate(), Gate())
            let condition = OperationCondition("answer") {
                asked.open()
                await answer.passed()
                throw Unmet()
            }
            let options = OperationOptions(name: "behind", level: .background, conditions: [condition])
            let behind = QoSOperation(options) { _ in 1 }
            let waiter = queue.addOperation(name: "waiter", level: .userInitiated) {
                await asked.passed()
                try await behind.waitUntilFinished()
            }
            try queue.add(behind)
            // The wait raises what it waits for.
            while behind.effectiveLevel != .userInitiated { await Task.yield() }
            answer.open()
            try await waiter.value
            #expect(behind.outcome == .failed)
        }
    }
}

extension BaseOperation {
    /// Waits for the end from outside of every operation.
    fileprivate func finished() async {
        let ended = Gate()
        whenFinished { _ in ended.open() }
        await ended.passed()
    }
}
