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

        @Test("I2 the raise for a lock lasts although less is needed for the job itself", arguments: [true, false])
        func besideAwait(awaitComesFirst: Bool) async throws {
            var configuration = QoSScheduler.Configuration(
                processors: 2, workers: [.background: 1], detectsBlocking: false)
            configuration.schedulingCalls = SimulatedSchedulingCalls(rights: .all)
            try await withScheduler(configuration) { scheduler in
                let lock = SharedMutex()
                let (isHeld, isOver) = (Gate(), Gate())
                let low = Task.detached(executorPreference: scheduler.executor, priority: .background) {
                    lock.mutex.withLock { _ in
                        isHeld.open()
                        while !isOver.isOpen {}
                    }
                }
                await isHeld.passed()
                // Work that waits: the loop looks.
                let next = Task.detached(executorPreference: scheduler.executor, priority: .background) {}
                let awaits = { @Sendable in
                    Task.detached(executorPreference: scheduler.executor, priority: .medium) { await low.value }
                }
                let locks = { @Sendable in
                    Task.detached(executorPreference: scheduler.executor, priority: .userInteractive) {
                        lock.mutex.withLock { $0 += 1 }
                    }
                }
                let first = awaitComesFirst ? awaits() : locks()
                while scheduler.snapshot.runningPromoted < 1 { await Task.yield() }
                let second = awaitComesFirst ? locks() : awaits()
                while Self.raise(scheduler) != .userInteractive { await Task.yield() }
                let looks = scheduler.snapshot.looks
                while scheduler.snapshot.looks < looks + 4 { await Task.yield() }
                #expect(Self.raise(scheduler) == .userInteractive)
                isOver.open()
                for task in [low, first, second, next] { await task.value }
                await scheduler.countsNoWorker()
            }
        }

        private static func raise(_ scheduler: QoSScheduler) -> QoSClass? {
            scheduler.core.group.pools[QoSClass.background.rank].workers[0].boost.withLock { $0.qosClass }
        }

        @Test("I2 a raised holder that gives back its lock within declared blocking stays blocked")
        func givenBackWithin() async throws {
            var configuration = QoSScheduler.Configuration(
                processors: 2, workers: [.background: 1], detectsBlocking: false)
            configuration.schedulingCalls = SimulatedSchedulingCalls(rights: .all)
            try await withScheduler(configuration) { scheduler in
                let lock = SharedMutex()
                let (isHeld, isFree, isOver) = (Gate(), Gate(), Gate())
                let low = Task.detached(executorPreference: scheduler.executor, priority: .background) {
                    QoS.withBlocking {
                        lock.mutex.withLock { _ in
                            isHeld.open()
                            while Self.raise(scheduler) != .userInteractive {}
                        }
                        isFree.open()
                        isOver.blockThread()
                    }
                }
                await isHeld.passed()
                let high = Task.detached(executorPreference: scheduler.executor, priority: .userInteractive) {
                    lock.mutex.withLock { $0 += 1 }
                }
                await high.value
                await isFree.passed()
                let isBlocked = scheduler.core.group.pools[QoSClass.background.rank].workers[0].isBlocked
                #expect(isBlocked)
                #expect(scheduler.snapshot.blockedDeclared == 1)
                isOver.open()
                await low.value
                await scheduler.countsNoWorker()
            }
        }
    }
}
