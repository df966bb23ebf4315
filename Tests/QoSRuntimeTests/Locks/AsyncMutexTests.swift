import QoSCore
import QoSKernel
import QoSRuntime
import QoSRuntimeTestSupport
import QoSTesting
import Testing

@Suite("A mutex for tasks", .timeLimit(.minutes(5)))
struct AsyncMutexTests {
    /// Waits until so many tasks wait.
    private func waiters(_ count: Int, of mutex: AsyncMutex<Int>) async {
        while mutex.waiterCount < count { await Task.yield() }
    }

    @Test("I2 the body may suspend, and no other task is inside meanwhile")
    func exclusion() async throws {
        try await withScheduler { scheduler in
            let mutex = AsyncMutex(0)
            let inside = Atomic32()
            try await withThrowingTaskGroup { group in
                for number in 0..<20 {
                    let qosClass = QoSClass.descending[number % 5]
                    group.addTask(executorPreference: scheduler.executor(for: qosClass)) {
                        for _ in 0..<50 {
                            try await mutex.withLock { value in
                                #expect(inside.enter() == 1)
                                let before = value
                                await Task.yield()
                                value = before + 1
                                inside.leave()
                            }
                        }
                    }
                }
                try await group.waitForAll()
            }
            #expect(try await mutex.withLock { $0 } == 1000)
        }
    }

    @Test("I2 it goes to the highest waiter, and to the first among equals")
    func order() async throws {
        let mutex = AsyncMutex(0)
        let gate = Gate()
        let order = Collected<Int>()
        let holder = Task { try await mutex.withLock { _ in await gate.passed() } }
        while await mutex.withLockIfAvailable({ _ in }) != nil { await Task.yield() }
        let priorities: [TaskPriority] = [.low, .high, .background, .low, .high]
        let ended = Tally()
        for (number, priority) in priorities.enumerated() {
            Task.detached(priority: priority) {
                try await mutex.withLock { _ in order.append(number) }
                ended.add()
            }
            await waiters(number + 1, of: mutex)
        }
        gate.open()
        // Awaiting the tasks would raise them.
        while ended.value < priorities.count { await Task.yield() }
        try await holder.value
        #expect(order.all == [1, 4, 0, 3, 2])
    }

    @Test("I2 one hand-over in sixteen goes to the task that has waited longest, however many higher ones wait")
    func longest() async throws {
        let mutex = AsyncMutex(0)
        let gate = Gate()
        let order = Collected<Int>()
        let holder = Task { try await mutex.withLock { _ in await gate.passed() } }
        while await mutex.withLockIfAvailable({ _ in }) != nil { await Task.yield() }
        let ended = Tally()
        for number in 0..<21 {
            Task.detached(priority: number == 0 ? .background : .high) {
                try await mutex.withLock { _ in order.append(number) }
                ended.add()
            }
            await waiters(number + 1, of: mutex)
        }
        gate.open()
        // Awaiting the tasks would raise them.
        while ended.value < 21 { await Task.yield() }
        try await holder.value
        #expect(order.all == Array(1...15) + [0] + Array(16...20))
    }

    @Test("I2 the holder's task is raised to the waiter's class while it has the mutex")
    func raisesHolder() async throws {
        let mutex = AsyncMutex(0)
        let (isHeld, gate, ended) = (Gate(), Gate(), Gate())
        let priorities = Collected<TaskPriority>()
        Task.detached(priority: .background) {
            try await mutex.withLock { _ in
                priorities.append(Task.currentPriority)
                isHeld.open()
                await gate.passed()
                await raised(to: .high)
                priorities.append(Task.currentPriority)
            }
            ended.open()
        }
        await isHeld.passed()
        let waiter = Task.detached(priority: .high) { try await mutex.withLock { $0 } }
        await waiters(1, of: mutex)
        gate.open()
        await ended.passed()
        _ = try await waiter.value
        #expect(priorities.all == [.background, .high])
    }

    @Test("I4 the holder that waits in a busy pool is moved to the waiter's pool")
    func movesHolder() async throws {
        var configuration = QoSScheduler.Configuration(
            processors: 1, appliesKernelEffects: false, detectsBlocking: false)
        // Nobody is to stand in for the worker that is blocked for the test's sake.
        configuration.detectsBlocking = false
        try await withScheduler(configuration) { scheduler in
            let mutex = AsyncMutex(0)
            let (isHeld, gate, blocker, isBlocked) = (Gate(), Gate(), Gate(), Gate())
            let names = Collected<String>()
            let ended = Gate()
            Task.detached(executorPreference: scheduler.executor, priority: .background) {
                try await mutex.withLock { _ in
                    isHeld.open()
                    await gate.passed()
                    names.append(CurrentThread.name)
                }
                ended.open()
            }
            await isHeld.passed()
            Task.detached(executorPreference: scheduler.executor, priority: .background) {
                isBlocked.open()
                blocker.blockThread()
            }
            await isBlocked.passed()
            // Resumed, the holder stands behind the blocked worker of its class.
            gate.open()
            let waiter = Task.detached(executorPreference: scheduler.executor, priority: .high) {
                try await mutex.withLock { $0 }
            }
            await ended.passed()
            blocker.open()
            _ = try await waiter.value
            #expect(names.all == ["qos-in-0"])
        }
    }

    @Test("I2 the raise is transitive: over mutexes for tasks, and from there over one for threads")
    func transitive() async throws {
        let (outer, inner) = (AsyncMutex(0), AsyncMutex(0))
        let (isHeld, gate, ended) = (Gate(), Gate(), Gate())
        let priorities = Collected<TaskPriority>()
        Task.detached(priority: .background) {
            try await inner.withLock { _ in
                isHeld.open()
                await gate.passed()
                await raised(to: .high)
                priorities.append(Task.currentPriority)
            }
            ended.open()
        }
        await isHeld.passed()
        Task.detached(priority: .low) { try await outer.withLock { _ in try await inner.withLock { $0 += 1 } } }
        await waiters(1, of: inner)
        let high = Task.detached(priority: .high) { try await outer.withLock { $0 } }
        await waiters(1, of: outer)
        gate.open()
        await ended.passed()
        _ = try await high.value
        #expect(priorities.all == [.high])
    }

    @Test("I2 a waiter that is raised while it waits moves up, and raises the holder")
    func raisedWaiter() async throws {
        let mutex = AsyncMutex(0)
        let (isHeld, gate, ended) = (Gate(), Gate(), Gate())
        let priorities = Collected<TaskPriority>()
        let order = Collected<String>()
        Task.detached(priority: .background) {
            try await mutex.withLock { _ in
                isHeld.open()
                await gate.passed()
                await raised(to: .high)
                priorities.append(Task.currentPriority)
            }
            ended.open()
        }
        await isHeld.passed()
        let middle = Task.detached(priority: .medium) { try await mutex.withLock { _ in order.append("middle") } }
        await waiters(1, of: mutex)
        let low = Task.detached(priority: .background) { try await mutex.withLock { _ in order.append("low") } }
        await waiters(2, of: mutex)
        low.escalatePriority(to: .high)
        gate.open()
        await ended.passed()
        try await low.value
        try await middle.value
        #expect(priorities.all == [.high])
        #expect(order.all == ["low", "middle"])
    }

    @Test("I2 S8 a task that waited at the level of an activity is raised for the next waiter of that level")
    func waitedInActivity() async throws {
        let mutex = AsyncMutex(0)
        let (isHeld, gate, ended) = (Gate(), Gate(), Gate())
        let priorities = Collected<TaskPriority>()
        let holder = Task {
            try await mutex.withLock { _ in
                isHeld.open()
                await gate.passed()
            }
        }
        await isHeld.passed()
        Task.detached(priority: .background) {
            try await QoS.performActivity(.userInitiated, reason: "test") { () async throws -> Void in
                try await mutex.withLock { _ in
                    await raised(to: .high)
                    priorities.append(Task.currentPriority)
                }
            }
            ended.open()
        }
        await waiters(1, of: mutex)
        let next = Task.detached(priority: .high) { try await mutex.withLock { $0 } }
        await waiters(2, of: mutex)
        gate.open()
        await ended.passed()
        _ = try await next.value
        try await holder.value
        #expect(priorities.all == [.high])
    }

    @Test("a task that is cancelled while it waits stops waiting; the mutex goes on")
    func cancellation() async throws {
        let mutex = AsyncMutex(0)
        let (isHeld, gate) = (Gate(), Gate())
        let holder = Task {
            try await mutex.withLock { _ in
                isHeld.open()
                await gate.passed()
            }
        }
        await isHeld.passed()
        let waiter = Task { try await mutex.withLock { $0 += 100 } }
        await waiters(1, of: mutex)
        waiter.cancel()
        await #expect(throws: CancellationError.self) { try await waiter.value }
        #expect(mutex.waiterCount == 0)
        // Cancelled before it came to wait.
        let late = Task {
            unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
            try await mutex.withLock { $0 += 100 }
        }
        await #expect(throws: CancellationError.self) { try await late.value }
        gate.open()
        try await holder.value
        #expect(try await mutex.withLock { $0 } == 0)
    }

    @Test("I5 a task that asks for a mutex it holds gets an error, and the mutex works on")
    func reentrant() async throws {
        let mutex = AsyncMutex(0, name: "once")
        _ = try await mutex.withLock { _ in
            await #expect {
                _ = try await mutex.withLock { $0 += 1 }
            } throws: { error in
                if case LockError.reentrant("mutex 'once'", _)? = error as? LockError { true } else { false }
            }
        }
        #expect(try await mutex.withLock { $0 } == 0)
    }

    @Test("I5 of two tasks that would wait for one another, one gets an error")
    func deadlock() async throws {
        let (a, b) = (AsyncMutex(0, name: "A"), AsyncMutex(0, name: "B"))
        let isHeld = Gate()
        let first = Task {
            try await a.withLock { _ in
                await isHeld.passed()
                try await b.withLock { $0 += 1 }
            }
        }
        let error = try await b.withLock { _ -> (any Error)? in
            isHeld.open()
            while b.waiterCount == 0 { await Task.yield() }
            do {
                try await a.withLock { $0 += 1 }
                return nil
            } catch {
                return error
            }
        }
        try await first.value
        guard case LockError.deadlock("mutex 'A'", let waits)? = error as? LockError else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(waits.count == 2)
        #expect(try await b.withLock { $0 } == 1)
    }

    @Test(
        "I2 a crowd of tasks gets it one after the other, and so do those that are left when every second one gives up")
    func crowd() async throws {
        let mutex = AsyncMutex(0)
        let (isHeld, gate) = (Gate(), Gate())
        let holder = Task {
            try await mutex.withLock { _ in
                isHeld.open()
                await gate.passed()
            }
        }
        await isHeld.passed()
        let count = 100_000
        let tasks = (0..<count).map { _ in
            Task {
                try await mutex.withLock { value in
                    value += 1
                    await Task.yield()
                }
            }
        }
        await waiters(count, of: mutex)
        for number in stride(from: 0, to: count, by: 2) { tasks[number].cancel() }
        #expect(mutex.waiterCount == count / 2)
        gate.open()
        try await holder.value
        for number in stride(from: 1, to: count, by: 2) { try await tasks[number].value }
        #expect(try await mutex.withLock { $0 } == count / 2)
    }

    @Test(
        "I5 tasks that lock in any order end, each with its locks or with an error", .tags(.stress), arguments: 0..<8)
    func deadlocks(seed: UInt64) async throws {
        try await withScheduler { scheduler in
            let locks = (0..<3).map { AsyncMutex(0, name: "\($0)") }
            let semaphore = try AsyncSemaphore(permits: 2)
            let (done, refused) = (Tally(), Tally())
            try await withThrowingTaskGroup { group in
                for number in 0..<8 {
                    let qosClass = QoSClass.descending[number % 5]
                    group.addTask(executorPreference: scheduler.executor(for: qosClass)) {
                        var generator = SeededGenerator(seed: seed &* 97 &+ UInt64(number))
                        for _ in 0..<100 {
                            let order = [0, 1, 2].shuffled(using: &generator)
                            do {
                                try await locks[order[0]].withLock { _ in
                                    await Task.yield()
                                    try await semaphore.withPermit {
                                        try await locks[order[1]].withLock { _ in
                                            try await locks[order[2]].withLock { _ in _ = done.add() }
                                        }
                                    }
                                }
                            } catch is LockError {
                                refused.add()
                            }
                        }
                    }
                }
                try await group.waitForAll()
            }
            #expect(done.value + refused.value == 800, "seed \(seed)")
            for lock in locks { #expect(await lock.withLockIfAvailable { $0 } != nil) }
        }
    }

    @Test(
        "I2 tasks of all classes, some of them cancelled, leave a mutex and a semaphore as they were", .tags(.stress),
        arguments: 0..<10)
    func stress(seed: UInt64) async throws {
        try await withScheduler { scheduler in
            let mutex = AsyncMutex(0)
            let semaphore = try AsyncSemaphore(permits: 2)
            let (inside, counted) = (Atomic32(), Tally())
            var generator = SeededGenerator(seed: seed)
            let tasks = (0..<40).map { number in
                let qosClass = QoSClass.descending[Int.random(in: 0..<5, using: &generator)]
                return Task.detached(executorPreference: scheduler.executor, priority: qosClass.taskPriority) {
                    for _ in 0..<20 {
                        do {
                            try await semaphore.withPermit {
                                #expect(inside.enter() <= 2, "seed \(seed)")
                                defer { inside.leave() }
                                try await mutex.withLock { value in
                                    let before = value
                                    if number % 3 == 0 { await Task.yield() }
                                    value = before + 1
                                    counted.add()
                                }
                            }
                        } catch is CancellationError {
                            return
                        } catch {
                            Issue.record("seed \(seed): \(error)")
                        }
                    }
                }
            }
            for task in tasks where Int.random(in: 0..<4, using: &generator) == 0 {
                await Task.yield()
                task.cancel()
            }
            for task in tasks { await task.value }
            #expect(try await mutex.withLock { $0 } == counted.value, "seed \(seed)")
            #expect(mutex.waiterCount == 0 && semaphore.waiterCount == 0)
            try await semaphore.withPermit { try await semaphore.withPermit {} }
        }
    }
}
