internal import ExampleSupport
internal import QoSCore
internal import QoSRuntime

/// An actor on one of our serial executors. It runs in the pool of its most urgent call.
actor Counter {
    private let executor: QoSSerialExecutor
    private var value = 0

    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

    init(scheduler: QoSScheduler) {
        executor = scheduler.makeSerialExecutor()
    }

    func increment() -> String {
        value += 1
        return "\(value) counted on \(threadName())"
    }
}

@main
struct ActorExample {
    static func main() async throws {
        let scheduler = try QoSScheduler()
        let counter = Counter(scheduler: scheduler)
        for qosClass in [QoSClass.background, .userInitiated] {
            let task = Task.detached(priority: qosClass.taskPriority) { await counter.increment() }
            print("\(qosClass): \(await task.value)")
        }
        try await scheduler.shutdown()
    }
}
