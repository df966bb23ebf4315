internal import ExampleSupport
internal import QoSRuntime

/// The whole process on the runtime. Every task runs in the pool of its priority, and the main actor is the main
/// thread.
@main
struct ProcessExample {
    static func main() {
        QoSProcess.run {
            // Unstructured tasks: a child task of a group or an `async let` starts at its parent's priority in Swift
            // 6.3.
            let priorities: [(String, TaskPriority)] = [
                ("high", .high), ("medium", .medium), ("low", .low), ("background", .background),
            ]
            let tasks = priorities.map { name, priority in
                (name, Task.detached(priority: priority) { threadName() })
            }
            // An `await` at once would have raised them to our own priority.
            try await Task.sleep(for: .milliseconds(20), tolerance: .milliseconds(5))
            for (name, task) in tasks { print("\(name) ran on \(await task.value)") }
            await MainActor.run { print("the main actor runs on \(threadName())") }
        }
    }
}
