internal import ExampleSupport
internal import QoSRuntime

/// The whole process on the runtime: every task runs in the pool of its priority, and the main actor is the main thread.
@main
struct ProcessExample {
    static func main() {
        QoSProcess.run {
            // Tasks of their own: a child task of a group or an `async let` starts at its parent's priority in Swift 6.3.
            let priorities: [(String, TaskPriority)] = [
                ("high", .high), ("medium", .medium), ("low", .low), ("background", .background),
            ]
            let tasks = priorities.map { name, priority in
                (name, Task.detached(priority: priority) { threadName() })
            }
            // Had we awaited them at once, they would have been raised to our own priority.
            try await Task.sleep(for: .milliseconds(20), tolerance: .milliseconds(5))
            for (name, task) in tasks { print("\(name) ran on \(await task.value)") }
            await MainActor.run { print("the main actor runs on \(threadName())") }
        }
    }
}
