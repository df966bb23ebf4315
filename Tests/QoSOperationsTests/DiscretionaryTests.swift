import QoSCore
import QoSOperations
import QoSRuntimeTestSupport
import Testing

@testable import QoSRuntime

@Suite("Discretionary operations", .timeLimit(.minutes(5)))
struct DiscretionaryTests {
    /// Runs a body on a scheduler whose governor forbids discretionary work.
    private func withForbiddenWork(
        _ body: (QoSScheduler, QoSOperationQueue, SystemMonitor) async throws -> Void
    ) async throws {
        try await withScheduler { scheduler in
            var configuration = SystemMonitor.Configuration()
            configuration.source = { SystemReadings() }
            let monitor = try SystemMonitor(
                governing: scheduler, configuration: configuration, isDrivenByHand: true)
            monitor.setLowPowerMode(true)
            monitor.tick(at: SchedulerInstant(nanoseconds: 0))
            try await body(scheduler, QoSOperationQueue(scheduler: scheduler, maxConcurrent: .one), monitor)
        }
    }

    @Test("O12 S3 a network operation waits in low-power mode, with its reason and without a place, and runs after it")
    func waits() async throws {
        try await withForbiddenWork { scheduler, queue, monitor in
            let copy = queue.addOperation(OperationOptions(name: "copy", kind: .network)) { 7 }
            while copy.deferralReason == nil || scheduler.core.governed.subscriberCount == 0 { await Task.yield() }
            #expect(copy.state == .waiting)
            #expect(copy.deferralReason?.hasPrefix("discretionary work at utility waits: low-power mode") == true)
            // Others are not held up.
            let other = try await queue.addOperation(name: "plain") { 5 }.value
            #expect(other == 5)
            monitor.stop()
            while copy.state != .finished(.succeeded) { await Task.yield() }
            #expect(copy.deferralReason == nil)
        }
    }

    @Test("O12 O9 a network operation that a user waits for is in foreground use: it runs at once")
    func awaited() async throws {
        try await withForbiddenWork { scheduler, queue, _ in
            let copy = queue.addOperation(OperationOptions(name: "copy", kind: .network)) { 7 }
            while scheduler.core.governed.subscriberCount == 0 { await Task.yield() }
            let value = try await scheduler.startTask(at: .userInitiated) { try await copy.value }.value
            #expect(value == 7)
        }
    }

    @Test("O12 a waiting operation can be cancelled; its own option makes any operation discretionary, or none")
    func options() async throws {
        try await withForbiddenWork { scheduler, queue, _ in
            let tidy = queue.addOperation(OperationOptions(level: .utility, isDiscretionary: true)) { 1 }
            #expect(tidy.isDiscretionary)
            while scheduler.core.governed.subscriberCount == 0 { await Task.yield() }
            tidy.cancel()
            await #expect(throws: CancellationError.self) { try await tidy.value }
            while scheduler.core.governed.subscriberCount > 0 { await Task.yield() }
            let needed = queue.addOperation(OperationOptions(kind: .network, isDiscretionary: false)) { 2 }
            #expect(!needed.isDiscretionary)
            while needed.state != .finished(.succeeded) { await Task.yield() }
        }
    }
}
