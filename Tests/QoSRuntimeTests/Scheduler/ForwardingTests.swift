import QoSCore
import QoSKernel
import QoSRuntimeTestSupport
import Testing

@testable import QoSRuntime

@Suite("Work that comes after the end of its scheduler", .timeLimit(.minutes(5)))
struct ForwardingTests {
    @Test("a task that is skipped is cancelled elsewhere: its handlers do not run on the thread that resumes it")
    func handlers() async throws {
        let scheduler = try QoSScheduler(
            configuration: .init(processors: 2, appliesKernelEffects: false, detectsBlocking: false))
        let (suspended, threads) = (Gate(), Collected<ThreadID>())
        let waiting = Lock<CheckedContinuation<Void, Never>?>(nil)
        let task = Task(executorPreference: scheduler.executor(for: .utility, onShutdown: .skip)) {
            await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in
                    waiting.withLock { $0 = continuation }
                    suspended.open()
                }
            } onCancel: {
                threads.append(CurrentThread.id)
            }
            return Task.isCancelled
        }
        await suspended.passed()
        try await scheduler.shutdown()
        let resumer = Collected<ThreadID>()
        let thread = try RunningThread(name: "resumer") {
            resumer.append(CurrentThread.id)
            waiting.withLock { $0.take() }?.resume()
        }
        try thread.join()
        #expect(await task.value)
        #expect(threads.all.count == 1)
        #expect(threads.all != resumer.all)
    }
}
