import QoSCore
import QoSOperations
import QoSRuntime
import QoSRuntimeTestSupport
import Testing

@Suite("Levels of operations that wait and run")
struct LevelTests {
    /// An operation that runs until the gate opens, and is running when this returns.
    private func occupy(_ queue: QoSOperationQueue, _ level: QoSLevel?, until gate: Gate) async -> QoSOperation<Void> {
        let started = Gate()
        let operation = queue.addOperation(name: "running", level: level) {
            started.open()
            await gate.passed()
        }
        await started.passed()
        return operation
    }

    @Test("O1 what is created in the execution of an operation has its level, whatever the queue's")
    func o1() async throws {
        try await withScheduler { scheduler in
            let (queue, other) = (
                QoSOperationQueue(scheduler: scheduler, level: .utility),
                QoSOperationQueue(scheduler: scheduler, level: .background)
            )
            let created = Gate()
            let creating = queue.addOperation {
                let direct = QoSOperation {}
                // A child task stands in the execution of the operation too, a detached one does not.
                async let child = Task { QoSOperation {} }.value
                async let detached = Task.detached(priority: .background) { QoSOperation {} }.value
                let all = await [direct, child, detached]
                defer { created.open() }
                try other.add(all[2])
                return all.map(\.effectiveLevel)
            }
            // Waiting for the operation itself would raise it (O9).
            await created.passed()
            let levels = try await creating.value
            #expect(levels == [.utility, .utility, .background])
        }
    }

    @Test("O1 the queue comes before the activity, the activity before the creating task")
    func o1Order() async throws {
        try await withScheduler { scheduler in
            let (bare, levelled) = (
                QoSOperationQueue(scheduler: scheduler), QoSOperationQueue(scheduler: scheduler, level: .utility)
            )
            await Task.detached(priority: .high) {
                let inTask = QoSOperation {}
                let inActivity = Self.inBackgroundActivity { (QoSOperation {}, QoSOperation {}) }
                #expect(inTask.effectiveLevel == .userInitiated)
                #expect(throws: Never.self) {
                    try bare.add([inTask, inActivity.0])
                    try levelled.add(inActivity.1)
                }
                #expect(inTask.effectiveLevel == .userInitiated)
                #expect(inActivity.0.effectiveLevel == .background)
                #expect(inActivity.1.effectiveLevel == .utility)
            }.escaped
        }
    }

    private static func inBackgroundActivity<Success>(_ body: () -> Success) -> Success {
        QoS.performActivity(.background, reason: "making operations", body)
    }

    @Test("O1 S8 of an activity and withQoS the innermost gives the level, whichever of the two it is")
    func o1Innermost() async throws {
        try await withScheduler { scheduler in
            let queue = QoSOperationQueue(scheduler: scheduler)
            func made(_ operation: QoSOperation<Void>) throws -> QoSLevel? {
                let created = operation.effectiveLevel
                try queue.add(operation)
                #expect(operation.effectiveLevel == created)
                return created
            }
            let inner = try await QoS.performActivity(.userInitiated, reason: "outer") {
                try await scheduler.withQoS(.utility) { try made(QoSOperation {}) }
            }
            #expect(inner == .utility)
            let outer = try await scheduler.withQoS(.utility) {
                try QoS.performActivity(.userInitiated, reason: "inner") { try made(QoSOperation {}) }
            }
            #expect(outer == .userInitiated)
            // One that says nothing about a level is none.
            let silent = try await scheduler.withQoS(.utility) {
                try QoS.performActivity(.idleSleepDisabled, reason: "inner") { try made(QoSOperation {}) }
            }
            #expect(silent == .utility)
        }
    }

    @Test("O8 a task that an operation starts at a class has its own class's level, and is no part of the operation")
    func startedTask() async throws {
        try await withScheduler { scheduler in
            let queue = QoSOperationQueue(scheduler: scheduler)
            let (levels, isPart, ended) = (Collected<QoSLevel?>(), Collected<Bool>(), Gate())
            queue.addOperation(level: .userInitiated) {
                scheduler.startTask(at: .background) {
                    levels.append(QoS.currentLevel)
                    levels.append(QoSOperation {}.effectiveLevel)
                    isPart.append(BaseOperation.current != nil)
                    ended.open()
                }
            }
            await ended.passed()
            #expect(levels.all == [.background, .background])
            #expect(isPart.all == [false])
        }
    }

    @Test("O1 operations that have started wait in a pool by relative priority, and so does what they go on with")
    func relativePriority() async throws {
        let configuration = QoSScheduler.Configuration(
            processors: 1, appliesKernelEffects: false, detectsBlocking: false)
        try await withScheduler(configuration) { scheduler in
            let queue = QoSOperationQueue(scheduler: scheduler)
            let (begun, release, ran) = (Gate(), Gate(), Collected<Int>())
            queue.addOperation(level: .utility) {
                begun.open()
                release.blockThread()
            }
            await begun.passed()
            let lowerings = [5, 1, 15, 0, 5, 1]
            let operations = lowerings.enumerated().map { number, lowering in
                queue.addOperation(
                    level: QoSLevel(.utility, relativePriority: RelativePriority(clamping: -lowering))
                ) {
                    ran.append(number)
                    await Task.yield()
                    ran.append(number)
                }
            }
            let running = operations.count { $0.isRunning }
            #expect(running == operations.count, "all of them have started, and wait in the pool")
            release.open()
            while operations.contains(where: { !$0.isFinished }) { await Task.yield() }
            // Equal ones take turns.
            #expect(ran.all == [3, 3, 1, 5, 1, 5, 0, 4, 0, 4, 2, 2])
        }
    }

    @Test("Q2 O4 O8 a higher operation raises one that runs: its task, and what it starts from then on")
    func runningIsRaised() async throws {
        try await withScheduler { scheduler in
            let queue = QoSOperationQueue(scheduler: scheduler, level: .background)
            let (started, raised) = (Gate(), Gate())
            let running = queue.addOperation {
                started.open()
                await raised.passed()
                return (QoS.currentLevel, Task.currentPriority, QoSOperation {}.effectiveLevel)
            }
            await started.passed()
            #expect(running.effectiveLevel == .background)
            queue.addOperation(level: .userInitiated) {}
            #expect(running.effectiveLevel == .userInitiated && queue.effectiveLevel == .userInitiated)
            raised.open()
            let (level, priority, created) = try await Task.detached(priority: .background) { try await running.value }
                .value
            #expect(level == .userInitiated && created == .userInitiated)
            #expect(priority.rawValue >= TaskPriority.high.rawValue)
        }
    }

    @Test("Q3 Q4 a queue's property promotes present operations when it rises, and none when it falls")
    func property() async throws {
        try await withScheduler { scheduler in
            let queue = QoSOperationQueue(scheduler: scheduler, level: .utility, isSuspended: true)
            let operation = queue.addOperation {}
            queue.level = .userInitiated
            #expect(operation.effectiveLevel == .userInitiated)
            queue.level = .background
            #expect(operation.effectiveLevel == .userInitiated)
            #expect(queue.addOperation {}.effectiveLevel == .background)
            queue.cancelAllOperations()
        }
    }

    @Test("Q5 the lifetime of a promotion", arguments: QueuePromotionLifetime.allCases)
    func q5(lifetime: QueuePromotionLifetime) async throws {
        try await withScheduler { scheduler in
            let queue = QoSOperationQueue(scheduler: scheduler, level: .utility, promotion: lifetime)
            try await queue.addOperation(level: .userInitiated) {}.waitUntilFinished()
            #expect(queue.effectiveLevel == (lifetime == .untilSet ? .userInitiated : .utility))
        }
    }

    @Test("O5 a dependency raises what runs, in another queue")
    func o5() async throws {
        try await withScheduler { scheduler in
            let gate = Gate()
            let low = QoSOperationQueue(scheduler: scheduler, level: .background)
            let running = await occupy(low, nil, until: gate)
            let high = QoSOperation(level: .userInitiated) {}
            try high.addDependency(running)
            #expect(running.effectiveLevel == .userInitiated)
            gate.open()
            try low.add(high)
            try await high.waitUntilFinished()
        }
    }

    @Test("O6 O7 the level of a running operation can be raised, and lowered again")
    func o6() async throws {
        try await withScheduler { scheduler in
            let gate = Gate()
            let queue = QoSOperationQueue(scheduler: scheduler, maxConcurrent: .one)
            let running = await occupy(queue, .background, until: gate)
            let (front, raised) = (
                queue.addOperation(level: .background) {}, queue.addOperation(level: .background) {}
            )
            raised.level = .userInitiated
            #expect(
                [running, front, raised].map(\.effectiveLevel) == [.userInitiated, .userInitiated, .userInitiated])
            raised.level = .utility
            #expect([front, raised].map(\.effectiveLevel) == [.userInitiated, .utility])
            #expect(raised.level == .utility)
            let level = QoS.currentLevel
            async let waited: Void = queue.waitUntilAllFinished()
            // Raised by the wait.
            while raised.effectiveLevel != level { await Task.yield() }
            gate.open()
            try await waited
            #expect(raised.effectiveLevel == level, "readable after the end")
        }
    }

    @Test("O7 O8 an operation that is lowered while it runs submits at the lower level", arguments: [false, true])
    func loweredWhileRunning(wasRaised: Bool) async throws {
        try await withScheduler { scheduler in
            let (begun, goOn) = (Gate(), Gate())
            let queue = QoSOperationQueue(scheduler: scheduler)
            let operation = queue.addOperation(level: wasRaised ? .background : .userInitiated) {
                begun.open()
                await goOn.passed()
                async let ofChild = QoS.currentLevel
                return await [QoS.currentLevel, QoSOperation {}.effectiveLevel, ofChild]
            }
            await begun.passed()
            if wasRaised { operation.level = .userInitiated }
            operation.level = .utility
            let done = Gate()
            operation.whenFinished { _ in done.open() }
            goOn.open()
            // Without a wait that raises it.
            await done.passed()
            let seen = try operation.result?.get()
            #expect(seen == [.utility, .utility, .utility])
        }
    }

    @Test("O1 O7 O12 an operation whose level is set to nil infers one, in no queue, in one, and by its kind")
    func unset() async throws {
        try await withScheduler { scheduler in
            let queue = QoSOperationQueue(scheduler: scheduler, level: .utility, isSuspended: true)
            let made = Self.inBackgroundActivity { (0..<3).map { _ in QoSOperation(level: .utility) {} } }
            made[0].level = nil
            #expect(made[0].level == nil && made[0].effectiveLevel == .background)
            try queue.add(made)
            #expect(made[0].effectiveLevel == .utility, "the queue's")
            made[1].level = .userInitiated
            made[1].level = nil
            #expect(made[1].level == nil && made[1].effectiveLevel == .utility)
            queue.level = .userInitiated
            made[2].level = .background
            made[2].level = nil
            #expect(made[2].effectiveLevel == .userInitiated, "the queue's, as if it had been set to that")
            let network = QoSOperation(OperationOptions(level: .background, kind: .network), body: {})
            network.level = nil
            #expect(network.level == .utility && network.effectiveLevel == .utility)
            queue.cancelAllOperations()
        }
    }

    @Test("O9 an operation that somebody waits for keeps its level when one is taken back that it never had")
    func unsetNothing() async throws {
        try await withScheduler { scheduler in
            let queue = QoSOperationQueue(scheduler: scheduler, level: .background, isSuspended: true)
            let (parent, child) = (queue.addOperation {}, QoSOperation(level: .userInitiated) {})
            try child.addDependency(parent)
            parent.level = nil
            #expect(parent.effectiveLevel == .userInitiated)
            queue.cancelAllOperations()
            #expect(parent.effectiveLevel == .userInitiated)
            parent.level = nil
            #expect(parent.effectiveLevel == .userInitiated, "it has ended")
        }
    }

    @Test("O9 whoever awaits an operation raises it, also when the waiter is raised later")
    func o9() async throws {
        try await withScheduler { scheduler in
            let gate = Gate()
            let queue = QoSOperationQueue(scheduler: scheduler)
            let running = await occupy(queue, .background, until: gate)
            let waiter = Task(executorPreference: scheduler.executor(for: .utility), priority: .utility) {
                try await running.waitUntilFinished()
            }
            while running.effectiveLevel != .utility { await Task.yield() }
            scheduler.raise(waiter, to: .userInitiated)
            while running.effectiveLevel != .userInitiated { await Task.yield() }
            gate.open()
            try await waiter.value
        }
    }

    @Test("O9 whoever waits for a queue raises all of it; a blocked thread does so too")
    func o9Queue() async throws {
        try await withScheduler { scheduler in
            let gate = Gate()
            let queue = QoSOperationQueue(scheduler: scheduler, maxConcurrent: .one)
            let operations = [await occupy(queue, .background, until: gate), queue.addOperation(level: .background) {}]
            let blocked = Task(executorPreference: scheduler.executor(for: .default), priority: .medium) {
                try Self.block(queue)
            }
            while operations.contains(where: { $0.effectiveLevel != .default }) { await Task.yield() }
            let waiter = Task(executorPreference: scheduler.executor(for: .userInitiated), priority: .high) {
                try await queue.waitUntilAllFinished()
            }
            while operations.contains(where: { $0.effectiveLevel != .userInitiated }) { await Task.yield() }
            gate.open()
            try await waiter.value
            try await blocked.value
        }
    }

    private static func block(_ queue: QoSOperationQueue) throws {
        try queue.blockUntilAllFinished()
    }

    @Test("O9 a thread that blocks on an operation raises it")
    func o9Blocking() async throws {
        try await withScheduler { scheduler in
            let gate = Gate()
            let queue = QoSOperationQueue(scheduler: scheduler)
            let running = await occupy(queue, .background, until: gate)
            let blocked = Task(executorPreference: scheduler.executor(for: .default), priority: .medium) {
                try Self.block(running)
                return running.isFinished
            }
            while running.effectiveLevel != .default { await Task.yield() }
            gate.open()
            let isFinished = try await blocked.value
            #expect(isFinished)
        }
    }

    @Test("O9 what an operation blocks its thread for rises with the operation, a queue with what is added to it")
    func o9BlockingLater() async throws {
        try await withScheduler { scheduler in
            let queue = QoSOperationQueue(scheduler: scheduler)
            let held = QoSOperationQueue(scheduler: scheduler, isSuspended: true)
            let awaited = held.addOperation(level: .background) {}
            let blocking = queue.addOperation(level: .utility) { try Self.block(awaited) }
            while awaited.effectiveLevel != .utility { await Task.yield() }
            blocking.level = .userInitiated
            #expect(awaited.effectiveLevel == .userInitiated)
            try held.resume()
            try await blocking.value

            held.suspend()
            let member = held.addOperation(level: .background) {}
            let blockedByQueue = queue.addOperation(level: .utility) { try Self.block(held) }
            while member.effectiveLevel != .utility { await Task.yield() }
            blockedByQueue.level = .userInitiated
            let later = held.addOperation(level: .background) {}
            #expect([member, later].map(\.effectiveLevel) == [.userInitiated, .userInitiated])
            try held.resume()
            try await blockedByQueue.value
        }
    }

    @Test("O9 O7 what a lowered operation awaits rises when the operation is raised to where it began")
    func o9AfterLowering() async throws {
        try await withScheduler { scheduler in
            let queue = QoSOperationQueue(scheduler: scheduler)
            let (begun, mayWait) = (Gate(), Gate())
            let awaited = QoSOperation(level: .background) {}
            let waiter = queue.addOperation(level: .userInitiated) {
                begun.open()
                await mayWait.passed()
                try await awaited.waitUntilFinished()
            }
            await begun.passed()
            waiter.level = .utility
            mayWait.open()
            while awaited.effectiveLevel != .utility { await Task.yield() }
            let dependent = QoSOperation(level: .userInitiated) {}
            try dependent.addDependency(waiter)
            #expect(awaited.effectiveLevel == .userInitiated)
            try queue.add([awaited, dependent])
            try await dependent.value
        }
    }

    private static func block(_ operation: BaseOperation) throws {
        try operation.blockUntilFinished()
    }

    @Test("O12 kinds give their levels to operations without an assigned one")
    func o12() async throws {
        let network = QoSOperation(OperationOptions(kind: .network), body: {})
        let database = QoSOperation(OperationOptions(kind: .remoteDatabase), body: {})
        let assigned = QoSOperation(OperationOptions(level: .background, kind: .remoteDatabase), body: {})
        #expect(
            [network, database, assigned].map(\.effectiveLevel) == [.utility, .userInitiated, .background])
    }
}
