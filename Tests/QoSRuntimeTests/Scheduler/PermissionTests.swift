import QoSCore
import QoSRuntimeTestSupport
import Testing

@testable import QoSRuntime

@Suite("The permission of discretionary work", .timeLimit(.minutes(5)))
struct PermissionTests {
    private let machine = SimulatedMachine()

    private func monitor(_ scheduler: QoSScheduler) throws -> SystemMonitor {
        try SystemMonitor(governing: scheduler, configuration: machine.configuration, isDrivenByHand: true)
    }

    @Test("S3 discretionary work waits in low-power mode, with a reason, and goes on after it")
    func waits() async throws {
        try await withScheduler { scheduler in
            let monitor = try monitor(scheduler)
            try await scheduler.waitUntilPermitted(at: .utility)
            monitor.setLowPowerMode(true)
            monitor.tick(at: second(0))
            #expect(
                scheduler.decision.deferralReason(for: .utility, isDiscretionary: true)?
                    .hasPrefix("discretionary work at utility waits: low-power mode") == true)
            #expect(scheduler.decision.deferralReason(for: .utility) == nil)
            try await scheduler.waitUntilPermitted(at: .utility, isDiscretionary: false)
            let passed = Gate()
            let task = scheduler.startTask(at: .utility) {
                try await scheduler.waitUntilPermitted(at: .utility)
                passed.open()
            }
            while scheduler.core.governed.subscriberCount == 0 { await Task.yield() }
            #expect(!passed.isOpen)
            monitor.stop()
            await passed.passed()
            try await task.value
            #expect(scheduler.core.governed.subscriberCount == 0)
        }
    }

    @Test("S3 a task that is raised while it waits needs the permission of the higher class")
    func raised() async throws {
        try await withScheduler { scheduler in
            let monitor = try monitor(scheduler)
            monitor.setLowPowerMode(true)
            monitor.tick(at: second(0))
            let task = scheduler.startTask(at: .utility) { try await scheduler.waitUntilPermitted(at: .utility) }
            while scheduler.core.governed.subscriberCount == 0 { await Task.yield() }
            // Whoever awaits the task raises it.
            try await scheduler.startTask(at: .userInitiated) { try await task.value }.value
        }
    }

    @Test("S3 the class of the work counts, not that of the task that asks")
    func higherTask() async throws {
        try await withScheduler { scheduler in
            let monitor = try monitor(scheduler)
            monitor.setLowPowerMode(true)
            monitor.tick(at: second(0))
            let task = scheduler.startTask(at: .userInitiated) {
                try await scheduler.waitUntilPermitted(at: .userInitiated)
                try await scheduler.waitUntilPermitted(at: .utility)
            }
            while scheduler.core.governed.subscriberCount == 0 { await Task.yield() }
            monitor.stop()
            try await task.value
        }
    }

    @Test("S3 cancellation ends the wait, and so does a shutdown, which lifts all limits")
    func ends() async throws {
        try await withScheduler { scheduler in
            let monitor = try monitor(scheduler)
            monitor.setLowPowerMode(true)
            monitor.tick(at: second(0))
            let cancelled = scheduler.startTask(at: .utility) { try await scheduler.waitUntilPermitted(at: .utility) }
            while scheduler.core.governed.subscriberCount == 0 { await Task.yield() }
            cancelled.cancel()
            await #expect(throws: CancellationError.self) {
                try await scheduler.run(at: .utility) { try await cancelled.value }
            }
            let waiting = scheduler.startTask(at: .utility) { try await scheduler.waitUntilPermitted(at: .utility) }
            while scheduler.core.governed.subscriberCount == 0 { await Task.yield() }
            #expect(try await scheduler.shutdown(within: .seconds(60)).isClean)
            try await waiting.value
            monitor.tick(at: second(1))
            #expect(scheduler.decision == GovernorDecision())
        }
    }
}
