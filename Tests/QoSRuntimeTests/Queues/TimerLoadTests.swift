import QoSCore
import QoSEventLoop
import QoSRuntimeTestSupport
import Testing

@testable import QoSRuntime

@Suite("Many short timers", .timeLimit(.minutes(5)))
struct TimerLoadTests {
    @Test(
        "leave the loop to delayed items, new sources and the shutdown, also where their queue is suspended",
        arguments: [false, true])
    func loopGoesOn(_ isSuspended: Bool) async throws {
        let scheduler = try QoSScheduler(configuration: .init(processors: 2, appliesKernelEffects: false))
        let (queue, other) = (scheduler.makeQueue("short"), scheduler.makeQueue("other"))
        if isSuspended { try queue.suspend() }
        let timers = (0..<40).map { _ in queue.makeTimer(after: .zero, repeating: .microseconds(1)) { _ in } }
        for _ in 0..<5 {
            let ran = Gate()
            other.async(after: .milliseconds(1)) { ran.open() }
            await ran.passed()
        }
        _ = try await other.makeFileSource("/") { _ in }
        let report = try await scheduler.shutdown(within: .seconds(60))
        #expect(report.isClean)
        withExtendedLifetime(timers) {}
    }

    @Test("that are cancelled leave the scheduler's timers before their deadlines")
    func cancelled() async throws {
        try await withScheduler { scheduler in
            let queue = scheduler.makeQueue("queue")
            for _ in 0..<1_000 { queue.makeTimer(after: .seconds(3_600)) { _ in }.cancel() }
            for _ in 0..<1_000 {
                let item = WorkItem {}
                try queue.async(after: .seconds(3_600), item)
                item.cancel()
            }
            let core = scheduler.core
            let kept = try await core.loop.perform { () throws(EventLoopError) in
                core.loopWoke()
                return core.timers.count
            }
            #expect(kept == 0)
        }
    }
}
