import QoSCore
import QoSKernel
import QoSKernelTestSupport
import QoSRuntimeTestSupport
import QoSTesting
import Testing

@testable import QoSRuntime

extension ThreadsAndLocks {
    @Suite("Mutexes and the workers of pools")
    struct WorkerLockTests {
        private func makeScheduler(_ calls: SimulatedSchedulingCalls) throws -> QoSScheduler {
            var configuration = QoSScheduler.Configuration(
                processors: 1, appliesKernelEffects: true, detectsBlocking: false)
            configuration.schedulingCalls = calls
            // A holder that sleeps for the test's sake is to stand for one that runs.
            configuration.detectsBlocking = false
            return try QoSScheduler(configuration: configuration)
        }

        @Test("I2 a worker that holds a mutex is raised by its scheduler, and is as before after unlocking")
        func raisesWorker() async throws {
            let calls = SimulatedSchedulingCalls(rights: .all)
            let scheduler = try makeScheduler(calls)
            let lock = SharedMutex()
            let (isHeld, gate, ended) = (Gate(), Gate(), Gate())
            let nice = Collected<Int>()
            Task.detached(executorPreference: scheduler.executor, priority: .low) {
                try lock.mutex.withLock { _ in
                    nice.append(try calls.nice(of: .current))
                    isHeld.open()
                    gate.blockThread()
                    nice.append(try calls.nice(of: .current))
                }
                nice.append(try calls.nice(of: .current))
                ended.open()
            }
            await isHeld.passed()
            let high = Task.detached(executorPreference: scheduler.executor, priority: .high) {
                lock.mutex.withLock { $0 += 1 }
            }
            while scheduler.snapshot.runningPromoted == 0 { await Task.yield() }
            gate.open()
            // Awaiting the task would raise it, too, and until the end of its job.
            await ended.passed()
            _ = await high.result
            let (own, raised) = (LockKernelStage.nice(.utility), LockKernelStage.nice(.userInitiated))
            #expect(nice.all == [own, raised, own])
            try await scheduler.shutdown()
        }

        @Test("I2 without privileges the classes between stand aside until the worker unlocks; then they go on")
        func fences() async throws {
            let scheduler = try makeScheduler(SimulatedSchedulingCalls(rights: .none))
            let lock = SharedMutex()
            let (isHeld, gate) = (Gate(), Gate())
            let low = Task.detached(executorPreference: scheduler.executor, priority: .low) {
                lock.mutex.withLock { _ in
                    isHeld.open()
                    gate.blockThread()
                }
            }
            await isHeld.passed()
            let high = Task.detached(executorPreference: scheduler.executor, priority: .high) {
                lock.mutex.withLock { $0 += 1 }
            }
            while scheduler.snapshot.runningPromoted == 0 { await Task.yield() }
            gate.open()
            await high.value
            await low.value
            // A fence that stayed up would keep these from running.
            for qosClass in QoSClass.allCases {
                await Task.detached(executorPreference: scheduler.executor, priority: qosClass.taskPriority) {}.value
            }
            try await scheduler.shutdown()
        }

        @Test(
            "I2 over a task that blocks its thread: who waits for what the task has raises the thread that the task waits for"
        )
        func throughBlockedTask() async throws {
            let calls = SimulatedSchedulingCalls(rights: .all)
            LockKernel.replace(with: KernelProfile(calls: calls))
            defer { LockKernel.replace(with: nil) }
            let (lock, mutex) = (SharedMutex(), AsyncMutex(0))
            let (isHeld, gate) = (Gate(), Gate())
            let (nice, ids) = (Collected<Int>(), Collected<ThreadID>())
            let raised = LockKernelStage.nice(.userInitiated)
            let thread = QoSThread(name: "low", level: .utility) {
                try lock.mutex.withLock { _ in
                    ids.append(.current)
                    isHeld.open()
                    gate.blockThread()
                    nice.append(try calls.nice(of: .current))
                }
            }
            try thread.start()
            await isHeld.passed()
            let middle = Task.detached(priority: .background) {
                try await mutex.withLock { _ in lock.mutex.withLock { $0 += 1 } }
            }
            while lock.waiterCount == 0 { await Task.yield() }
            let high = Task.detached(priority: .high) { try await mutex.withLock { $0 } }
            while try calls.nice(of: ids.all[0]) != raised { await Task.yield() }
            gate.open()
            try await thread.value
            try await middle.value
            _ = try await high.value
            #expect(nice.all == [raised])
        }

        @Test("I5 a thread of a pool that sleeps in a mutex is reported with both sides, and offered another way")
        func blockedPoolThread() async throws {
            let scheduler = try makeScheduler(SimulatedSchedulingCalls(rights: .all))
            let lock = SharedMutex(name: "blocked")
            let reports = Collected<InversionReport>()
            let token = InversionDetection.listen { if $0.resource == "mutex 'blocked'" { reports.append($0) } }
            defer { InversionDetection.stop(token) }
            let (isHeld, gate) = (Gate(), Gate())
            let thread = QoSThread(name: "holder", level: .userInteractive) {
                lock.mutex.withLock { _ in
                    isHeld.open()
                    gate.blockThread()
                }
            }
            try thread.start()
            await isHeld.passed()
            let waiter = Task.detached(executorPreference: scheduler.executor, priority: .low) {
                lock.mutex.withLock { $0 += 1 }
            }
            while reports.all.isEmpty { await Task.yield() }
            gate.open()
            await waiter.value
            try await thread.value
            let report = try #require(reports.all.first)
            #expect(report.kind == .blockedPoolThread)
            #expect(report.waiter.name.contains("'qos-ut-0'"))
            #expect(report.holder.name.contains("'holder'") && report.holder.level == .userInteractive)
            #expect(report.explanation.contains("AsyncMutex"))
            try await scheduler.shutdown()
        }

        @Test(
            "I2 tasks in pools and threads beside them share mutexes for threads and for tasks", .tags(.stress),
            arguments: 0..<6)
        func stress(seed: UInt64) async throws {
            let scheduler = try makeScheduler(SimulatedSchedulingCalls(rights: seed % 2 == 0 ? .all : .none))
            let (lock, mutex) = (SharedMutex(), AsyncMutex(0))
            var generator = SeededGenerator(seed: seed)
            let threads = try (0..<2).map { _ in
                let qosClass = QoSClass.descending[Int.random(in: 0..<5, using: &generator)]
                let thread = QoSThread(name: "beside", level: QoSLevel(qosClass)) {
                    for _ in 0..<300 { lock.mutex.withLock { $0 += 1 } }
                }
                try thread.start()
                return thread
            }
            let tasks = (0..<12).map { _ in
                let qosClass = QoSClass.descending[Int.random(in: 0..<5, using: &generator)]
                return Task.detached(executorPreference: scheduler.executor, priority: qosClass.taskPriority) {
                    for _ in 0..<50 {
                        lock.mutex.withLock { $0 += 1 }
                        try await mutex.withLock { value in
                            value += 1
                            lock.mutex.withLock { $0 += 1 }
                        }
                    }
                }
            }
            for task in tasks { try await task.value }
            for thread in threads { try await thread.value }
            #expect(lock.mutex.withLock { $0 } == 600 + 1200, "seed \(seed)")
            #expect(try await mutex.withLock { $0 } == 600, "seed \(seed)")
            try await scheduler.shutdown()
            #expect(LockRegistry.shared.contents == [])
        }
    }
}
