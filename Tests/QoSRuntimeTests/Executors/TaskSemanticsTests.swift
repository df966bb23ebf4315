import QoSCore
import QoSRuntime
import QoSRuntimeTestSupport
import Testing

/// The language's promises for tasks, on executors of ours.
@Suite("Tasks on the pools", .timeLimit(.minutes(5)))
struct TaskSemanticsTests {
    @TaskLocal private static var label = "none"

    @Test("task-local values reach children and survive changes of the pool")
    func taskLocals() async throws {
        try await withScheduler { scheduler in
            let labels = await Task(executorPreference: scheduler.executor(for: .utility)) {
                await Self.$label.withValue("outer") {
                    async let child = Self.label
                    let inner = await Self.$label.withValue("inner") {
                        await scheduler.withQoS(.userInitiated) {
                            await Task.yield()
                            return Self.label
                        }
                    }
                    return await [child, inner, Self.label]
                }
            }.value
            #expect(labels == ["outer", "inner", "outer"])
            #expect(Self.label == "none")
        }
    }

    @Test("cancellation reaches the children of a group, and their handlers run once each")
    func cancellation() async throws {
        try await withScheduler { scheduler in
            let handled = Tally()
            let cancelled = await withTaskGroup(of: Bool.self) { group in
                let ready = Gate()
                let count = Tally()
                for index in 0..<50 {
                    let qosClass = QoSClass.allCases[index % QoSClass.allCases.count]
                    group.addTask(executorPreference: scheduler.executor(for: qosClass)) {
                        let over = Gate()
                        await withTaskCancellationHandler {
                            if count.add() == 50 { ready.open() }
                            await over.passed()
                        } onCancel: {
                            handled.add()
                            over.open()
                        }
                        return Task.isCancelled
                    }
                }
                await ready.passed()
                group.cancelAll()
                return await group.reduce(into: [Bool]()) { $0.append($1) }
            }
            #expect(cancelled == Array(repeating: true, count: 50))
            #expect(handled.value == 50)
        }
    }

    @Test("a sleep that is cancelled ends at once, with an error", arguments: QoSClass.allCases)
    func cancelledSleep(_ qosClass: QoSClass) async throws {
        try await withScheduler { scheduler in
            let begun = Gate()
            let sleeper = Task(executorPreference: scheduler.executor(for: qosClass)) {
                begun.open()
                try await Task.sleep(for: .seconds(3_600))
            }
            await begun.passed()
            sleeper.cancel()
            await #expect(throws: CancellationError.self) { try await sleeper.value }
        }
    }

    @Test("a group that throws cancels the rest")
    func throwingGroup() async throws {
        struct Broken: Error {}
        try await withScheduler { scheduler in
            let task = Task(executorPreference: scheduler.executor(for: .utility)) {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for _ in 0..<8 {
                        group.addTask { try await Task.sleep(for: .seconds(3_600)) }
                    }
                    group.addTask { throw Broken() }
                    for try await _ in group {}
                }
            }
            await #expect(throws: Broken.self) { try await task.value }
        }
    }

    @Test("continuations that another thread resumes come back to the pool", arguments: QoSClass.allCases)
    func continuations(_ qosClass: QoSClass) async throws {
        try await withScheduler { scheduler in
            let classes = await Task(executorPreference: scheduler.executor(for: qosClass)) {
                var classes: Set<QoSClass?> = []
                for index in 0..<100 {
                    let value = await withCheckedContinuation { continuation in
                        Task.detached { continuation.resume(returning: index) }
                    }
                    if value == index { classes.insert(CurrentThread.qosClass) }
                }
                return classes
            }.escaped
            #expect(classes == [qosClass])
        }
    }

    @Test("a stream brings everything in order from one pool to another")
    func streams() async throws {
        try await withScheduler { scheduler in
            let (stream, continuation) = AsyncStream.makeStream(of: Int.self)
            let consumer = Task(executorPreference: scheduler.executor(for: .background)) {
                var received: [Int] = []
                for await number in stream { received.append(number) }
                return received
            }
            let producer = Task(executorPreference: scheduler.executor(for: .userInteractive)) {
                for number in 0..<10_000 { continuation.yield(number) }
                continuation.finish()
            }
            await producer.value
            let received = await consumer.value
            #expect(received == Array(0..<10_000))
        }
    }

    @Test("a deep chain of async calls and awaits across all classes gives its result")
    func chain() async throws {
        try await withScheduler { scheduler in
            @Sendable func descend(_ depth: Int) async -> Int {
                guard depth > 0 else { return 0 }
                let qosClass = QoSClass.allCases[depth % QoSClass.allCases.count]
                return await Task(executorPreference: scheduler.executor(for: qosClass)) {
                    await descend(depth - 1) + 1
                }.value
            }
            let depth = await descend(500)
            #expect(depth == 500)
        }
    }

    @Test("tasks that yield to one another all make progress, however many they are")
    func yields() async throws {
        try await withScheduler(.init(processors: 1, appliesKernelEffects: false, detectsBlocking: false)) {
            scheduler in
            let turns = await withTaskGroup(of: Int.self) { group in
                let stop = Gate()
                for _ in 0..<20 {
                    group.addTask(executorPreference: scheduler.executor(for: .default)) {
                        var turns = 0
                        while !stop.isOpen {
                            turns += 1
                            await Task.yield()
                        }
                        return turns
                    }
                }
                // Comes through the injection queue, while the only worker is never without work.
                group.addTask {
                    await Task(executorPreference: scheduler.executor(for: .default)) { stop.open() }.value
                    return 1
                }
                return await group.reduce(into: [Int]()) { $0.append($1) }
            }
            #expect(turns.count == 21)
        }
    }
}
