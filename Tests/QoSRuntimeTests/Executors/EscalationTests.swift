import QoSCore
import QoSRuntime
import QoSRuntimeTestSupport
import Testing

@Suite("Escalation", .timeLimit(.minutes(5)))
struct EscalationTests {
    /// A low task that waits for an escalation, and tells its places before and after.
    private func lowTask(on executor: any TaskExecutor, waits: Gate) -> Task<[QoSClass?], Never> {
        Task.detached(executorPreference: executor, priority: .background) {
            let escalated = Gate()
            let before = CurrentThread.qosClass
            await withTaskPriorityEscalationHandler {
                waits.open()
                await escalated.passed()
            } onPriorityEscalated: { _, _ in
                escalated.open()
            }
            // It may have been escalated before it came to wait; where it runs is decided when it is queued next.
            while CurrentThread.qosClass == before { await Task.yield() }
            return [before, CurrentThread.qosClass]
        }
    }

    @Test("I4 a task of a class that a higher one awaits goes on in the higher one's pool")
    func classExecutor() async throws {
        try await withScheduler { scheduler in
            let waits = Gate()
            let low = lowTask(on: scheduler.executor(for: .background), waits: waits)
            await waits.passed()
            let high = Task.detached(executorPreference: scheduler.executor(for: .userInitiated), priority: .high) {
                await low.value
            }
            let classes = await high.value
            #expect(classes == [.background, .userInitiated])
        }
    }

    @Test("I4 so does a task of the executor by priority")
    func priorityExecutor() async throws {
        try await withScheduler { scheduler in
            let waits = Gate()
            let low = lowTask(on: scheduler.executor, waits: waits)
            await waits.passed()
            let high = Task.detached(executorPreference: scheduler.executor, priority: .userInteractive) {
                await low.value
            }
            let classes = await high.value
            #expect(classes == [.background, .userInteractive])
        }
    }

    @Test("a task of a high class that a lower one awaits stays where it is")
    func neverLowered() async throws {
        try await withScheduler { scheduler in
            let gate = Gate()
            let high = Task.detached(executorPreference: scheduler.executor(for: .userInteractive), priority: .low) {
                await gate.passed()
                return CurrentThread.qosClass
            }
            let low = Task.detached(executorPreference: scheduler.executor(for: .background), priority: .high) {
                await high.value
            }
            gate.open()
            let qosClass = await low.value
            #expect(qosClass == .userInteractive)
        }
    }

    @Test("escalation handlers are told the old and the new priority, and children follow")
    func handler() async throws {
        try await withScheduler { scheduler in
            let told = Collected<[TaskPriority]>()
            let waits = Gate()
            let low = Task.detached(executorPreference: scheduler.executor, priority: .background) {
                let escalated = Gate()
                async let child = withTaskPriorityEscalationHandler {
                    waits.open()
                    await escalated.passed()
                    return Task.currentPriority
                } onPriorityEscalated: { old, new in
                    told.append([old, new])
                    escalated.open()
                }
                return await child
            }
            await waits.passed()
            let high = Task.detached(executorPreference: scheduler.executor, priority: .high) { await low.value }
            let priority = await high.value
            #expect(priority == .high)
            #expect(told.all.last == [.background, .high], "\(told.all)")
        }
    }

    @Test("a task can be escalated by hand")
    func byHand() async throws {
        try await withScheduler { scheduler in
            let waits = Gate()
            let low = lowTask(on: scheduler.executor(for: .utility), waits: waits)
            await waits.passed()
            low.escalatePriority(to: .userInteractive)
            let classes = await low.value
            #expect(classes == [.utility, .userInteractive])
        }
    }
}
