import QoSCore
import QoSRuntimeTestSupport
import Testing

@testable import QoSRuntime

/// A task is raised just as it begins to wait: before its level is looked at, or before the handler of raises is in
/// place. Either way what it waits for has to follow; where it does not, the test does not end.
@Suite("A raise at the beginning of a wait", .timeLimit(.minutes(5)), .tags(.stress))
struct RaisedWaiterTests {
    private static let rounds = 300

    private static let configuration = QoSScheduler.Configuration(
        processors: 2, appliesKernelEffects: false, detectsBlocking: false)

    /// Waits until something that another thread does soon has been done.
    private func until(_ condition: () -> Bool) async {
        while !condition() { await Task.yield() }
    }

    /// Begins a wait in a low task, and raises that task at the same moment.
    private func raisedWaiter(
        _ scheduler: QoSScheduler, _ wait: @escaping @Sendable () async throws -> Void
    ) async -> Task<Void, any Error> {
        let begins = Gate()
        let waiter = Task.detached(executorPreference: scheduler.executor(for: .utility), priority: .utility) {
            begins.open()
            try await wait()
        }
        await begins.passed()
        waiter.escalatePriority(to: .high)
        return waiter
    }

    @Test("I1 raises the item that is awaited, and the one before a closure that is awaited", arguments: [false, true])
    func items(_ awaitsClosure: Bool) async throws {
        try await withScheduler(Self.configuration) { scheduler in
            for _ in 0..<Self.rounds {
                let queue = scheduler.makeQueue("queue", level: .background)
                let (begun, goOn) = (Gate(), Gate())
                let item = WorkItem(level: .background) {
                    begun.open()
                    goOn.blockThread()
                }
                try queue.async(item)
                await begun.passed()
                let waiter = await raisedWaiter(scheduler) {
                    if awaitsClosure { try await queue.run {} } else { await item.waitUntilFinished() }
                }
                await until { item.effectiveLevel == .userInitiated }
                goOn.open()
                try await waiter.value
            }
        }
    }

    @Test("I2 raises the task that holds the mutex that is waited for", .needsKnownLayout)
    func mutex() async throws {
        try await withScheduler(Self.configuration) { scheduler in
            for _ in 0..<Self.rounds {
                let mutex = AsyncMutex(0)
                let (isHeld, ended) = (Gate(), Gate())
                Task.detached(executorPreference: scheduler.executor(for: .background), priority: .background) {
                    try await mutex.withLock { _ in
                        isHeld.open()
                        await raised(to: .high)
                    }
                    ended.open()
                }
                await isHeld.passed()
                let waiter = await raisedWaiter(scheduler) { try await mutex.withLock { _ in } }
                await ended.passed()
                try await waiter.value
            }
        }
    }
}
