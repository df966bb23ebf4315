import QoSCore
import QoSKernelTestSupport
import QoSRuntimeTestSupport
import Testing

@testable import QoSRuntime

extension ThreadsAndLocks {
    @Suite("Holders of mutexes that are blocked")
    struct BlockedHolderTests {
        @Test(
            "I2 without privileges the raise of a holder that is blocked is told at once; the fence goes up when the holder runs on"
        )
        func fencedLater() async throws {
            var configuration = QoSScheduler.Configuration(processors: 1, detectsBlocking: false)
            configuration.schedulingCalls = SimulatedSchedulingCalls(rights: .none)
            let scheduler = try QoSScheduler(configuration: configuration)
            let lock = SharedMutex()
            let (isHeld, gate, isOver) = (Gate(), Gate(), Gate())
            let low = Task.detached(executorPreference: scheduler.executor, priority: .low) {
                lock.mutex.withLock { _ in
                    QoS.withBlocking {
                        isHeld.open()
                        gate.blockThread()
                    }
                    while !isOver.isOpen {}
                }
            }
            await isHeld.passed()
            let high = Task.detached(executorPreference: scheduler.executor, priority: .high) {
                lock.mutex.withLock { $0 += 1 }
            }
            while scheduler.snapshot.runningPromoted == 0 { await Task.yield() }
            #expect(scheduler.core.group.admission.counters.fencesRaised == 0)
            gate.open()
            while scheduler.core.group.admission.counters.fencesRaised == 0 { await Task.yield() }
            isOver.open()
            await high.value
            await low.value
            // The worker lifts its fence behind the end of the job, which those who await the task do not wait for.
            try await scheduler.shutdown()
            #expect(
                scheduler.core.group.admission.counters.fencesLifted
                    == scheduler.core.group.admission.counters.fencesRaised)
        }
    }
}
