import QoSCore
import QoSKernel
import QoSRuntimeTestSupport
import Testing

@testable import QoSRuntime

/// AddressSanitizer sees a use after the last reference; a plain run sees lost work.
@Suite("The last reference to what runs a job", .timeLimit(.minutes(5)))
struct LastReferenceTests {
    /// Tasks that wait until threads, several at a time, make them go on.
    private final class Waiting: Sendable {
        private let continuations = Lock<[CheckedContinuation<Void, Never>]>([])

        func wait() async {
            await withCheckedContinuation { continuation in continuations.withLock { $0.append(continuation) } }
        }

        /// Returns when so many wait.
        func isComplete(_ count: Int) async {
            while continuations.withLock({ $0.count }) < count { await Task.yield() }
        }

        /// Once so many wait: makes them go on from as many threads.
        func goOn(_ count: Int) async throws {
            await isComplete(count)
            let waiting = continuations.withLock { $0 }
            let begin = Gate()
            let threads = try waiting.map { continuation in
                try RunningThread(name: "resumer") {
                    begin.blockThread()
                    continuation.resume()
                }
            }
            begin.open()
            for thread in threads { try thread.join() }
        }
    }

    @Test(
        "a scheduler that has ended goes with the tasks that go on elsewhere, while threads still make others go on",
        .tags(.stress))
    func endedScheduler() async throws {
        for _ in 0..<100 {
            let (waiting, ended) = (Waiting(), Tally())
            do {
                let scheduler = try QoSScheduler(
                    configuration: .init(processors: 2, appliesKernelEffects: false, detectsBlocking: false))
                for _ in 0..<4 {
                    Task(executorPreference: scheduler.executor(for: .utility)) {
                        await waiting.wait()
                        ended.add()
                    }
                }
                await waiting.isComplete(4)
                try await scheduler.shutdown(within: .seconds(60))
            }
            try await waiting.goOn(4)
            while ended.value < 4 { await Task.yield() }
        }
    }

    @Test(
        "an actor with a lane of its own goes with its last call, while a thread still makes the call go on",
        .tags(.stress))
    func actorOfLane() async throws {
        actor Counter {
            private let executor: QoSSerialExecutor
            nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }
            private var count = 0

            init(_ executor: QoSSerialExecutor) { self.executor = executor }

            func add(after waiting: Waiting) async -> Int {
                await waiting.wait()
                count += 1
                return count
            }
        }
        try await withScheduler { scheduler in
            for _ in 0..<200 {
                let (waiting, sum) = (Waiting(), Tally())
                let tasks = (0..<4).map { _ in
                    let counter = Counter(scheduler.makeSerialExecutor())
                    return Task { if await counter.add(after: waiting) == 1 { sum.add() } }
                }
                try await waiting.goOn(4)
                for task in tasks { await task.value }
                #expect(sum.value == 4)
            }
        }
    }
}
