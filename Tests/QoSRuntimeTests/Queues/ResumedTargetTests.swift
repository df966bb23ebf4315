import QoSCore
import QoSKernel
import QoSRuntimeTestSupport
import Testing

@testable import QoSRuntime

@Suite("Threads that wait for items of a suspended queue", .timeLimit(.minutes(5)))
struct ResumedTargetTests {
    private static let oneWorker = QoSScheduler.Configuration(
        processors: 1, appliesKernelEffects: false, detectsBlocking: false)

    @Test("items that wait within the target look again when the queue is resumed")
    func resumed() async throws {
        try await withScheduler(Self.oneWorker) { scheduler in
            let target = scheduler.makeQueue("target", level: .utility)
            let queue = try scheduler.makeQueue("queue", level: .utility, target: target)
            try queue.suspend()
            let item = WorkItem {}
            try queue.async(item)
            let (waiter, isOver) = (Collected<ThreadID>(), Gate())
            // On the only worker.
            scheduler.globalQueue(for: .utility).async {
                waiter.append(CurrentThread.id)
                #expect(throws: Never.self) { try item.blockUntilFinished() }
                isOver.open()
            }
            while waiter.all.isEmpty { await Task.yield() }
            let thread = waiter.all[0]
            let before = try await sleeps(of: thread, after: 0)
            // Wakes the waiter, which finds nothing to do for the item.
            target.async {}
            _ = try await sleeps(of: thread, after: before)
            try queue.resume()
            await isOver.passed()
        }
    }

    /// Returns the number of times that a thread has fallen asleep, once it sleeps and the number is above another one.
    private func sleeps(of thread: ThreadID, after count: UInt64) async throws -> UInt64 {
        while true {
            let present = try EnergyReader().read().threads.first { $0.id == thread.rawValue }?.voluntarySwitches
            if let present, present > count, ThreadClock.isAsleep(thread) == true { return present }
            await Task.yield()
        }
    }
}
