import QoSCore
import QoSOperations
import QoSRuntime
import QoSRuntimeTestSupport
import Testing

/// A value of a program, that no part of the runtime knows.
private enum User {
    @TaskLocal static var name = "nobody"
}

@Suite("Task-local values of a program", .timeLimit(.minutes(5)))
struct TaskLocalTests {
    @Test("X1 tasks keep them: those that a scheduler starts, runs at a class, or gives a class for a while")
    func tasks() async throws {
        try await withScheduler { scheduler in
            let seen = await User.$name.withValue("somebody") {
                [
                    await scheduler.startTask(at: .utility) { User.name }.value,
                    await scheduler.run(at: .background) { User.name },
                    await scheduler.withQoS(.utility) { User.name },
                ]
            }
            #expect(seen == ["somebody", "somebody", "somebody"])
        }
    }

    @Test("X2 items, operations and their completions have none, as their comments say; a value can be bound by hand")
    func others() async throws {
        try await withScheduler { scheduler in
            let queue = scheduler.makeQueue("locals")
            let operations = QoSOperationQueue(scheduler: scheduler)
            let seen = try await User.$name.withValue("somebody") {
                let awaited = try await queue.run { User.name }
                let submitted = await withCheckedContinuation { continuation in
                    queue.async { continuation.resume(returning: User.name) }
                }
                let item = WorkItem(flags: .assignCurrent) {}
                let operation = QoSOperation { User.name }
                let ended = await withCheckedContinuation { continuation in
                    operation.whenFinished { _ in continuation.resume(returning: User.name) }
                    do { try operations.add(operation) } catch { continuation.resume(returning: "\(error)") }
                }
                try await queue.run(item)
                let user = User.name
                let bound = try await queue.run { User.$name.withValue(user) { User.name } }
                return [awaited, submitted, try await operation.value, ended, bound]
            }
            #expect(seen == ["nobody", "nobody", "nobody", "nobody", "somebody"])
        }
    }
}
